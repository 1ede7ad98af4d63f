set(NICMON_HTTP_SUPPORT
    ${CMAKE_CURRENT_SOURCE_DIR}/http/certificates.cc ${CMAKE_CURRENT_SOURCE_DIR}/http/fake_node.cc
    ${CMAKE_CURRENT_SOURCE_DIR}/http/http_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/http/raw_client.cc)

function(nicmon_http_test name)
  nicmon_test(${name} ${ARGN} ${NICMON_HTTP_SUPPORT})
  # Some tests look at the parts behind the server, whose headers are beside their sources.
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json OpenSSL::SSL ZLIB::ZLIB)
endfunction()

nicmon_http_test(http_routes_test ${CMAKE_CURRENT_SOURCE_DIR}/http/access_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/history_routes_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/hold_routes_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/operator_routes_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/probe_route_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/read_routes_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/read_views_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/simulator_route_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/status_page_test.cc)
nicmon_http_test(http_server_test ${CMAKE_CURRENT_SOURCE_DIR}/http/connection_table_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/hostile_connections_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/hostile_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/listening_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/parsing_test.cc)
nicmon_http_test(http_stream_test ${CMAKE_CURRENT_SOURCE_DIR}/http/stream_clients_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/stream_test.cc)
nicmon_http_test(http_access_test ${CMAKE_CURRENT_SOURCE_DIR}/http/access_table_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/tls_connections_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/tls_test.cc
                 ${CMAKE_CURRENT_SOURCE_DIR}/http/web_settings_test.cc)
