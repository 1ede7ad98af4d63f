add_test(NAME deploy.rules COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/deploy/rules.sh)
set_tests_properties(deploy.rules PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120 LABELS checks)
