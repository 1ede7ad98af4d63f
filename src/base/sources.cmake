target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/base/bounded_calls.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/clock.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/epoll.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/log.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/log_format.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/log_queue.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/errno_text.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/group.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/limited_log.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/rate_limit.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/rfc3339.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/state_directory.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/terminal_text.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/base/text.cc)
