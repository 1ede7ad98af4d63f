# What is in deploy/. None of it depends on how nicmon was compiled, so sanitizer builds leave it.
if(NOT NICMON_ASAN AND NOT NICMON_TSAN)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME deploy.rules COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/deploy/rules.sh)
  add_test(NAME deploy.alertmanager
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/deploy/alertmanager.py)
  # With durations divided by 20: two minutes, nearly all of it waiting. Without --fast, 40 minutes.
  add_test(NAME deploy.alerts_live
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/deploy/live/alerts_live.py
                   $<TARGET_FILE:nicmon> --fast)
  # -B leaves no __pycache__ behind.
  add_test(NAME deploy.helm
           COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/deploy/helm/helm_test.py
                   $<TARGET_FILE:nicmon> ${CMAKE_BINARY_DIR}/helm-tools)
  set_tests_properties(deploy.rules deploy.alertmanager deploy.alerts_live deploy.helm
                       PROPERTIES SKIP_RETURN_CODE 77 LABELS checks)
  set_tests_properties(deploy.rules deploy.helm PROPERTIES TIMEOUT 300)
  set_tests_properties(deploy.alertmanager PROPERTIES TIMEOUT 120)
  set_tests_properties(deploy.alerts_live PROPERTIES TIMEOUT 600 COST 500)
endif()
