target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/ctl/argv.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/check.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/client.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/command_table.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/commands_operate.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/commands_read.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/ctl.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/endpoint.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/outcome.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/replies.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/sse.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/text.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/ctl/watch.cc)
