set(NICMON_HTTP_SUPPORT ${CMAKE_CURRENT_SOURCE_DIR}/http/fake_node.cc
                        ${CMAKE_CURRENT_SOURCE_DIR}/http/http_test.cc
                        ${CMAKE_CURRENT_SOURCE_DIR}/http/raw_client.cc)
nicmon_test(http_test ${CMAKE_CURRENT_SOURCE_DIR}/http/read_routes_test.cc
            ${NICMON_HTTP_SUPPORT})
target_link_libraries(http_test PRIVATE nlohmann_json::nlohmann_json ZLIB::ZLIB)
