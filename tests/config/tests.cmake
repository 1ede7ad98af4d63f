nicmon_test(config_test ${CMAKE_CURRENT_SOURCE_DIR}/config/config_file_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/config/config_rows_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/config/config_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/config/documentation_test.cc)
target_compile_definitions(config_test PRIVATE NICMON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
