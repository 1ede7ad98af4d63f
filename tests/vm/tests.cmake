# The guest with a real kernel: see tests/vm/run. Not with TSan, whose shadow memory does not fit, and
# the newer guest not with ASan, whose runtime belongs to this machine's C library.
set(NICMON_VM_CACHE "${CMAKE_BINARY_DIR}/vm-cache" CACHE PATH "Where fetched guest kernels are kept")

function(nicmon_guest_test name kernel)
  add_test(NAME ${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/vm/run" --kernel ${kernel}
                                $<TARGET_FILE:nicmon>)
  set_tests_properties(
    ${name} PROPERTIES LABELS vm TIMEOUT 1500 RUN_SERIAL ON SKIP_RETURN_CODE 77
    ENVIRONMENT "NICMON_VM_CACHE=${NICMON_VM_CACHE};${ARGN}")
endfunction()

if(TARGET nicmon AND NOT NICMON_TSAN)
  nicmon_guest_test(vm.own own)
  if(NOT NICMON_ASAN)
    nicmon_guest_test(vm.newer newer NICMON_MAY_SKIP=1)
  endif()
endif()
