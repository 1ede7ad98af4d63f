nicmon_test(device_test ${CMAKE_CURRENT_SOURCE_DIR}/device/acquire_failure_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/device_context_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/gid_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/loopback_probe_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/pause_reasons_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/port_query_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/device/release_test.cc)

# These take every descriptor away, and UBSan's check of virtual calls needs some of its own.
if(NOT NICMON_ASAN)
  nicmon_test(device_descriptor_test
              ${CMAKE_CURRENT_SOURCE_DIR}/device/acquire_descriptor_test.cc)
endif()
