#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/sysfs/files.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// How a simulated node starts out (--simulate=SPEC).
struct SimulationSpec {
  std::vector<std::string> names;  // one device each
  uint32_t ports = 1;
  uint64_t speed_gbps = 400;
  bool infiniband = false;  // link layer; RoCE otherwise
};

/// Parses "devices=8,ports=1,speed=400" or "names=ibp1s0+rocep3s0f0"; "" gives the default of two
/// devices. On error returns nullopt and fills `error` with one line saying what is accepted.
std::optional<SimulationSpec> ParseSimulationSpec(const std::string& text, std::string* error);

/// One command of POST /api/v1/simulator, decoded. Absent fields leave things as they are.
struct SimCommand {
  struct Fail {
    std::string verb;  // as in VerbsApi: "query_port", "open_device", …; also "sysfs_read"
    int error = 0;
    uint32_t times = 1;
    uint32_t skip = 0;  // calls that still succeed first
  };
  struct Hang {
    std::string verb;
    Duration duration{0};
  };
  std::string device;
  std::optional<uint32_t> port;
  std::optional<int> state;
  std::optional<int> physical_state;
  std::optional<uint64_t> effective_speed_100mbps;  // what query_port_speed answers
  std::optional<uint32_t> active_speed;             // codes
  std::optional<uint32_t> active_speed_ex;
  std::optional<uint32_t> active_width;
  std::map<std::string, uint64_t> counters;  // sysfs counters/ or hw_counters/ by file name
  std::optional<int> event;                  // ibv_event_type
  uint32_t repeat = 1;                       // of the event
  std::optional<Fail> fail;
  std::optional<Hang> hang;
  bool unplug = false;
  bool silent = false;  // with unplug: as rxe, no event and the removal waits for our close
  bool plug = false;
  std::optional<std::string> rename;
};

/// How many objects of each kind a test finds held; all zero when nothing leaks.
struct SimHeld {
  int device_lists = 0;
  int contexts = 0;
  int pds = 0;
  int channels = 0;
  int cqs = 0;
  int unacked_events = 0;
  friend bool operator==(const SimHeld&, const SimHeld&) = default;
};

/// A stateful fake of a node's RDMA devices behind VerbsApi and SysfsFiles.
///
/// Thread-safe: device threads call the tables while a controller changes the hardware. The async
/// fd of a context is a semaphore eventfd over an unbounded queue, so one read takes one event and
/// EPOLLET re-arms with every enqueue, as in the kernel: production epoll and drain code runs
/// unchanged. The tables keep the simulated node alive.
class SimulatedRnic {
 public:
  explicit SimulatedRnic(const SimulationSpec& spec);
  ~SimulatedRnic();

  std::shared_ptr<const VerbsApi> verbs() const;
  /// A sysfs tree in memory that agrees with the devices.
  SysfsFiles sysfs() const;

  /// Carries out one command. Returns an empty string, or one line saying what is wrong with it;
  /// then nothing was changed. Hangs end early when the object's EndHangs() is called.
  std::string Apply(const SimCommand& command);

  /// Wakes every hanging call, now and in future (for a clean end of tests).
  void EndHangs();

  SimHeld Held() const;
  /// Times a verb was called, by its name in VerbsApi (sysfs reads: "sysfs_read").
  uint64_t Calls(const std::string& verb) const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace nicmon
