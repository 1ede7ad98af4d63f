nicmon_test(base_test ${CMAKE_CURRENT_SOURCE_DIR}/base/base_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/bounded_calls_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/detached_threads_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/epoll_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/state_directory_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/terminal_text_test.cc)
nicmon_test(log_test ${CMAKE_CURRENT_SOURCE_DIR}/base/log_record_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/log_test.cc)
target_link_libraries(log_test PRIVATE nlohmann_json::nlohmann_json)
