target_include_directories(nicmon_core PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/http/access.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/connection.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/connection_table.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/exchange.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/gzip.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/http_stats.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_input.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_output.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/listener.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/listening_socket.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/lookup.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/request_head.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/router.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_command.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_hold.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_read.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/select.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/server.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/status_page.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/text.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/text_tables.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/times.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/token_file.cc)
