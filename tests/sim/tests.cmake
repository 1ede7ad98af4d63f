nicmon_test(sim_verbs_test ${CMAKE_CURRENT_SOURCE_DIR}/sim/sim_verbs_test.cc)
