target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/device/data_path.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/device_context.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/gid.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/loopback_probe.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/pause_reasons.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/port_query.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/port_values.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/device/probe_result.cc)
