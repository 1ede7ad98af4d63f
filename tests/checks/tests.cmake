# Checks of the tree itself. They do not depend on how it was compiled, so sanitizer builds leave them.
if(NOT NICMON_ASAN AND NOT NICMON_TSAN)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(checks "${PROJECT_SOURCE_DIR}/tests/checks")
  add_test(NAME checks.layering COMMAND Python3::Interpreter "${checks}/layering.py")
  add_test(NAME checks.paths COMMAND Python3::Interpreter "${checks}/paths.py")
  add_test(NAME checks.self_test COMMAND Python3::Interpreter "${checks}/self_test.py")
  add_test(NAME checks.format COMMAND "${checks}/format.sh")
  add_test(NAME checks.scripts COMMAND "${checks}/scripts.sh")
  add_test(NAME checks.tidy COMMAND "${checks}/tidy.sh" "${CMAKE_BINARY_DIR}")
  set_tests_properties(
    checks.layering checks.paths checks.self_test checks.format checks.scripts checks.tidy
    PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 120)
  set_tests_properties(checks.tidy PROPERTIES TIMEOUT 1200 PROCESSORS 2)
endif()
