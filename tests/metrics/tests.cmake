nicmon_test(
  metrics_test
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/budget_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/counters_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/docs_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/families_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/families_values_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/page_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/process_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/metrics/serializer_test.cc)
target_compile_definitions(metrics_test PRIVATE NICMON_DOCS_DIR="${PROJECT_SOURCE_DIR}/docs"
                                                NICMON_DEPLOY_DIR="${PROJECT_SOURCE_DIR}/deploy")
