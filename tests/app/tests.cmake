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
endif()
