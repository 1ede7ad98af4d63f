target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_events.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_monitor.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_monitor_open.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_monitor_ports.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_monitor_stats.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/discovery.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/estimate.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/holds.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/node_monitor.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/pending.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/port_tracker.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/port_tracker_observe.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/roster.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/snapshot.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/stats.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/monitor/view.cc)
