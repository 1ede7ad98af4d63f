# The Debian packages and the tarball: installed, booted, removed.
if(NOT NICMON_ASAN AND NOT NICMON_TSAN)
  set(run "${CMAKE_CURRENT_SOURCE_DIR}/packages/run")
  # What was built for /usr, as scripts/test does, is packed as it is; else it is built once more.
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    add_test(NAME packages.own COMMAND "${run}" own "${CMAKE_BINARY_DIR}")
  else()
    add_test(NAME packages.own COMMAND "${run}" own)
  endif()
  add_test(NAME packages.image COMMAND "${run}" image)
  set_tests_properties(packages.own packages.image PROPERTIES LABELS deploy SKIP_RETURN_CODE 77 TIMEOUT 900)
  set_tests_properties(packages.image PROPERTIES FIXTURES_REQUIRED image)
endif()
