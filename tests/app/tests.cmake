nicmon_test(app_test ${CMAKE_CURRENT_SOURCE_DIR}/app/app_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/app/state_test.cc)
if(TARGET nicmon)
  nicmon_test(process_test ${CMAKE_CURRENT_SOURCE_DIR}/app/process_stop_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/app/process_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/app/child.cc)
  target_compile_definitions(process_test PRIVATE NICMON_PROGRAM="$<TARGET_FILE:nicmon>")
  add_dependencies(process_test nicmon)
  nicmon_test(holds_process_test ${CMAKE_CURRENT_SOURCE_DIR}/app/holds_process_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/app/child.cc)
  target_compile_definitions(holds_process_test PRIVATE NICMON_PROGRAM="$<TARGET_FILE:nicmon>")
  target_link_libraries(holds_process_test PRIVATE nlohmann_json::nlohmann_json)
  add_dependencies(holds_process_test nicmon)
  if(NOT NICMON_ASAN AND NOT NICMON_TSAN) # which want to be loaded before all others
    add_library(hang_disk MODULE ${CMAKE_CURRENT_SOURCE_DIR}/app/hang_disk.cc)
    nicmon_test(hung_disk_test ${CMAKE_CURRENT_SOURCE_DIR}/app/hung_disk_test.cc
                ${CMAKE_CURRENT_SOURCE_DIR}/app/child.cc)
    target_compile_definitions(
      hung_disk_test PRIVATE NICMON_PROGRAM="$<TARGET_FILE:nicmon>"
                             NICMON_HANG_DISK="$<TARGET_FILE:hang_disk>")
    target_link_libraries(hung_disk_test PRIVATE nlohmann_json::nlohmann_json)
    add_dependencies(hung_disk_test nicmon hang_disk)
  endif()
endif()
