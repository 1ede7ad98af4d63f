target_sources(
  nicmon_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/device/pause_reasons.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/device/port_values.cc)
