nicmon_test(base_test ${CMAKE_CURRENT_SOURCE_DIR}/base/base_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/base/epoll_test.cc)
