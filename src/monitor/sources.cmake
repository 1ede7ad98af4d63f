target_sources(
  nicmon_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_events.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/monitor/stats.cc)
