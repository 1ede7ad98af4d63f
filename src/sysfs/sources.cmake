target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/bond.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/counter_table.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/files.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/identity.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/kept_directories.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/kept_file.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/link_attribute_reader.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/link_attributes.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/netdev.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/parse.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/stats_layout.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/stats_sampler.cc)
