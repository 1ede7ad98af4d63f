# Checks of dashboards/. They do not depend on how nicmon was compiled, so sanitizer builds leave them.
if(NOT NICMON_ASAN AND NOT NICMON_TSAN)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(dashboards "${CMAKE_CURRENT_SOURCE_DIR}/dashboards")
  add_test(NAME dashboards.static COMMAND Python3::Interpreter "${dashboards}/static.py")
  add_test(NAME dashboards.queries COMMAND Python3::Interpreter "${dashboards}/queries.py"
                                           $<TARGET_FILE:nicmon>)
  add_test(NAME dashboards.types COMMAND "${dashboards}/types.sh" "${CMAKE_BINARY_DIR}")
  set_tests_properties(dashboards.static dashboards.queries dashboards.types
                       PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()
