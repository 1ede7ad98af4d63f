#include "nicmon/device/probe_result.h"

namespace nicmon {

std::string_view DataPathModeName(DataPathMode mode) {
  switch (mode) {
    case DataPathMode::kOnDemand:
      return "on-demand";
    case DataPathMode::kAlways:
      return "always";
    case DataPathMode::kNever:
      return "never";
  }
  return "";
}

std::string_view ProbeStepName(ProbeStep step) {
  switch (step) {
    case ProbeStep::kOpen:
      return "open";
    case ProbeStep::kQueryPort:
      return "query_port";
    case ProbeStep::kGid:
      return "gid";
    case ProbeStep::kRegisterMemory:
      return "reg_mr";
    case ProbeStep::kCreateQp:
      return "create_qp";
    case ProbeStep::kInit:
      return "init";
    case ProbeStep::kReadyToReceive:
      return "rtr";
    case ProbeStep::kReadyToSend:
      return "rts";
    case ProbeStep::kWrite:
      return "write";
    case ProbeStep::kCompare:
      return "compare";
  }
  return "";
}

}  // namespace nicmon
