find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME e2e.golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/golden.py
                                   $<TARGET_FILE:nicmon>)
  add_test(NAME e2e.counters COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/counters.py
                                     $<TARGET_FILE:nicmon>)
  add_test(NAME e2e.node_exporter
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/node_exporter_numbers.py
                   $<TARGET_FILE:nicmon>)
  add_test(NAME e2e.docs
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/doc_curls.py
                   $<TARGET_FILE:nicmon> README.md docs/api.md docs/runbook.md
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME e2e.stream COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/stream.py
                                   $<TARGET_FILE:nicmon>)
  add_test(NAME e2e.hostile COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/hostile.py
                                    $<TARGET_FILE:nicmon>
                                    $<$<OR:$<BOOL:${NICMON_ASAN}>,$<BOOL:${NICMON_TSAN}>>:--sanitized>
           COMMAND_EXPAND_LISTS)
  add_test(NAME e2e.history COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/history.py
                                    $<TARGET_FILE:nicmon>)
  set_tests_properties(e2e.golden e2e.counters e2e.node_exporter e2e.docs e2e.stream e2e.history
                       e2e.hostile PROPERTIES TIMEOUT 300 LABELS e2e SKIP_RETURN_CODE 77)
  set_tests_properties(e2e.hostile e2e.docs PROPERTIES COST 100)
endif()
