# What the page does does not depend on how nicmon was compiled, so sanitizer builds leave it.
if(NOT NICMON_ASAN AND NOT NICMON_TSAN)
  add_test(NAME browser.page COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/browser/run $<TARGET_FILE:nicmon>
                                     ${CMAKE_BINARY_DIR}/browser)
  set_tests_properties(browser.page PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 600 COST 400)
endif()
