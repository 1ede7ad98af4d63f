target_sources(
  nicmon_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/verbs/events.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/verbs/handles.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/verbs/library.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/verbs/link_speed.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/verbs/query_port.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/verbs/real_verbs.cc
                      ${CMAKE_CURRENT_SOURCE_DIR}/verbs/wc_status.cc)

# An enumerator cannot be detected in C++ itself; rdma-core has this one from 62 on.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles(
  "#include <infiniband/verbs.h>
   int main() { return IBV_EVENT_DEVICE_SPEED_CHANGE == 20 ? 0 : 1; }"
  NICMON_HAVE_SPEED_CHANGE_EVENT)
if(NICMON_HAVE_SPEED_CHANGE_EVENT)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/verbs/events.cc
                              PROPERTIES COMPILE_DEFINITIONS NICMON_HAVE_SPEED_CHANGE_EVENT)
endif()
