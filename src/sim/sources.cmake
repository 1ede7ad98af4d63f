target_sources(
  nicmon_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/sim/async.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/sim/data_path.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/command.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/data_path.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/faults.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/node.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/objects.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/render.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/simulated_rnic.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/spec.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/sysfs.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/sysfs_tree.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/sim/verbs.cc)
