nicmon_test(monitor_values_test ${CMAKE_CURRENT_SOURCE_DIR}/monitor/holds_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/port_tracker_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/port_values_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/roster_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/view_test.cc)
nicmon_test(device_monitor_test ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_commands_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_life_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_links_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_monitor_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_monitor_stats_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_prober_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/device_stats_turns_test.cc)
nicmon_test(node_monitor_test ${CMAKE_CURRENT_SOURCE_DIR}/monitor/node_hang_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/node_monitor_test.cc)
nicmon_test(monitor_property_test ${CMAKE_CURRENT_SOURCE_DIR}/monitor/property_test.cc)
nicmon_test(transition_test ${CMAKE_CURRENT_SOURCE_DIR}/monitor/transition_test.cc)
nicmon_test(holds_test ${CMAKE_CURRENT_SOURCE_DIR}/monitor/holds_binding_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/holds_durable_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/monitor/holds_text_test.cc)
target_include_directories(holds_test PRIVATE "${PROJECT_SOURCE_DIR}/src")
