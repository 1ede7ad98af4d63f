nicmon_test(history_test ${CMAKE_CURRENT_SOURCE_DIR}/history/journal_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/history/damage_test.cc)
target_link_libraries(history_test PRIVATE SQLite::SQLite3)
