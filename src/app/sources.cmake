target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/app/control_loop.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/app/hardware.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/app/node.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/app/process.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/app/service_manager.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/app/state.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/app/watchdog.cc)
