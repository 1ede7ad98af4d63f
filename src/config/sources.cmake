target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/config/argv.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/config.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/config_file.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/duration.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/existence.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/flag_table.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/help.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/merge.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/values.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/config/version.cc)

set(NICMON_REVISION "" CACHE STRING "Revision to report where there is no .git")
add_custom_target(
  nicmon_revision
  COMMAND
    "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DREVISION=${NICMON_REVISION}"
    "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/generated/nicmon_revision.h" -P
    "${CMAKE_CURRENT_SOURCE_DIR}/config/revision.cmake"
  BYPRODUCTS "${CMAKE_CURRENT_BINARY_DIR}/generated/nicmon_revision.h")
add_dependencies(nicmon_core nicmon_revision)
set_source_files_properties(
  "${CMAKE_CURRENT_SOURCE_DIR}/config/version.cc"
  PROPERTIES INCLUDE_DIRECTORIES "${CMAKE_CURRENT_BINARY_DIR}/generated" COMPILE_DEFINITIONS
             "NICMON_LIBIBVERBS_HEADERS=\"${IBVERBS_VERSION}\"")
