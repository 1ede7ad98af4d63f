nicmon_test(device_test ${CMAKE_CURRENT_SOURCE_DIR}/device/acquire_descriptor_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/acquire_failure_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/device_context_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/gid_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/pause_reasons_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/port_query_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/release_test.cc)
