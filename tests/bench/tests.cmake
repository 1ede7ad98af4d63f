if(NICMON_BENCH)
  find_package(benchmark REQUIRED)

  # nicmon_bench(<name> <source> [library...])
  function(nicmon_bench name source)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} PRIVATE nicmon_core ${ARGN})
  endfunction()

  nicmon_bench(exposition_bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/exposition_bench.cc
               benchmark::benchmark)
  nicmon_bench(monitor_bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/monitor_bench.cc)
  nicmon_bench(process_bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/process_bench.cc)
  nicmon_bench(stream_bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/stream_bench.cc GTest::gtest)
  target_sources(stream_bench PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/http/fake_node.cc
                                      ${CMAKE_CURRENT_SOURCE_DIR}/http/raw_client.cc)

  # That they still run; what they print is for people.
  add_test(NAME bench.monitor COMMAND monitor_bench 20)
  add_test(NAME bench.process COMMAND process_bench $<TARGET_FILE:nicmon> 1)
  add_test(NAME bench.stream COMMAND stream_bench 20 1000)
  set_tests_properties(bench.monitor bench.process bench.stream PROPERTIES TIMEOUT 120 LABELS bench)
endif()
