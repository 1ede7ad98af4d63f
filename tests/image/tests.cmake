# The container image: built with its unit tests (g++ 14), looked at, and run as the pod.
if(NOT NICMON_ASAN AND NOT NICMON_TSAN)
  add_test(NAME image.build_and_run COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/image/run")
  set_tests_properties(
    image.build_and_run PROPERTIES LABELS deploy SKIP_RETURN_CODE 77 TIMEOUT 1500 COST 1000
                                   FIXTURES_SETUP image)
endif()
