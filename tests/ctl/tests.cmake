if(TARGET nicmon)
  nicmon_test(ctl_test ${CMAKE_CURRENT_SOURCE_DIR}/ctl/answers_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/commands_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/completion_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/ctl_run.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/deploy_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/endpoint_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/keep_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/ctl/usage_test.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/app/child.cc
              ${CMAKE_CURRENT_SOURCE_DIR}/http/certificates.cc)
  target_link_libraries(ctl_test PRIVATE OpenSSL::SSL)
  target_compile_definitions(ctl_test PRIVATE NICMON_PROGRAM="$<TARGET_FILE:nicmon>"
                                              NICMON_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                              NICMON_BUILD_DIR="${PROJECT_BINARY_DIR}"
                                              NICMON_CMAKE="${CMAKE_COMMAND}")
  target_link_libraries(ctl_test PRIVATE nlohmann_json::nlohmann_json)
  target_include_directories(ctl_test PRIVATE "${PROJECT_SOURCE_DIR}/src")
  add_dependencies(ctl_test nicmon)
endif()
