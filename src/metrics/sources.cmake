target_sources(
  nicmon_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/metrics/emitters.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/families.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/node_rows.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/process.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/samples.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/serializer.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/stat_emitters.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/metrics/table.cc)
