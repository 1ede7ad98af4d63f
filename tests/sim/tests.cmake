nicmon_test(
  sim_test ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_data_path_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_events_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_faults_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_life_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_spec_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_sysfs_test.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_verbs_test.cc)
