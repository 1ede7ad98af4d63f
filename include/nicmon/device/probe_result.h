#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/device/port_values.h"

// What a probe of the data path finds out. Free of verbs.h, as readers share it.
namespace nicmon {

/// When protection domain, completion channel and queue are built (--data-path).
enum class DataPathMode { kOnDemand, kAlways, kNever };
/// "on-demand", "always", "never".
std::string_view DataPathModeName(DataPathMode mode);

/// Whether a device's data path can be had.
struct DataPathStatus {
  DataPathMode mode = DataPathMode::kOnDemand;
  std::optional<bool> ready;  // kAlways: it is built; nullopt: nothing is kept
  std::string note;           // why it could not be built the last time, one line
  friend bool operator==(const DataPathStatus&, const DataPathStatus&) = default;
};

/// The steps of a probe, in order.
enum class ProbeStep {
  kOpen,            // a context with protection domain, completion channel and queue
  kQueryPort,       // it has to read ACTIVE
  kGid,             // RoCE only: InfiniBand is addressed by LID
  kRegisterMemory,  // reg_mr
  kCreateQp,        // an RC queue pair
  kInit,            // modify_qp
  kReadyToReceive,  // modify_qp, connected to itself
  kReadyToSend,     // modify_qp
  kWrite,           // an RDMA WRITE, from post_send to its completion
  kCompare,         // what arrived with what was sent
};
/// "open", "query_port", "gid", "reg_mr", "create_qp", "init", "rtr", "rts", "write", "compare".
std::string_view ProbeStepName(ProbeStep step);

/// One probe, from the opening to the comparison.
struct ProbeResult {
  struct Timed {
    ProbeStep step;
    Duration took;
  };
  std::vector<Timed> steps;  // as far as it came; one that failed is the last
  std::optional<ProbeStep> failed;
  std::string error;                // what went wrong, one line
  std::string hint;                 // what to do about it, may be empty
  std::optional<Gid> gid;           // the one that was used
  std::vector<std::string> events;  // async events about the probe's own objects: "qp_fatal"
  Duration total{0};                // without the release of what was built

  bool ok() const { return !failed; }
};

}  // namespace nicmon
