target_sources(
  nicmon_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/history/database.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/history/event_rows.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/history/journal.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/history/memory_store.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/history/sqlite_store.cc)
