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
  /// Calls of a verb fail: `skip` succeed first, then `times` give `error`. A new one for the same
  /// device and verb replaces the old; `times` 0 takes it back.
  struct Fail {
    std::string verb;  // as in VerbsApi: "query_port", "open_device", …; also "sysfs_read"
    int error = 0;     // errno; for sysfs_read what the read gives
    uint32_t times = 1;
    uint32_t skip = 0;
  };
  /// Calls of a verb block from now on until `duration` has passed, and then do what they would
  /// do at that moment. A new one for the same device and verb replaces the old; 0 ends it.
  struct Hang {
    std::string verb;
    Duration duration{0};
  };
  /// By its current name; also that of an unplugged device. Empty only with `fail` and `hang`: they
  /// then meet every device. get_device_list belongs to no device: with it the name is ignored.
  std::string device;
  /// May be missing on a device with one port. An event may carry a number that does not exist.
  std::optional<uint32_t> port;
  std::optional<int> state;
  std::optional<int> physical_state;
  /// What query_port_speed answers (on a port that is DOWN it answers 0, whatever this is).
  std::optional<uint64_t> effective_speed_100mbps;
  std::optional<uint32_t>
      active_speed;  // codes; sets active_speed_ex too unless that is 0 or given
  std::optional<uint32_t> active_speed_ex;
  std::optional<uint32_t> active_width;
  /// sysfs counters/ or hw_counters/ by file name; an unknown one is added to hw_counters/.
  std::map<std::string, uint64_t> counters;
  /// ibv_event_type, or a number nobody knows; goes to every open context of the device, after the
  /// changes above. Port-scoped ones and unknown numbers carry `port`, DEVICE_FATAL too (else 0).
  std::optional<int> event;
  uint32_t repeat = 1;  // of the event
  std::optional<Fail> fail;
  std::optional<Hang> hang;
  /// As mlx5: DEVICE_FATAL on every open context, whose verbs then give EIO (the event queue runs
  /// dry, closing works); off the list and out of sysfs.
  bool unplug = false;
  /// With unplug, as rxe: no event and open contexts answer as before; off the list and out of
  /// class/infiniband_verbs at once; class/infiniband and the removal wait for the last close.
  bool silent = false;
  /// Puts an unplugged device back: new index, fresh ports. `rename` with it gives it another name
  /// on the way. A name that no device has ever had adds a device.
  bool plug = false;
  std::optional<std::string> rename;  // index and open contexts stay
};

/// What becomes of bytes that a port sends to itself.
enum class SimLoopback {
  kWorks,
  kCorrupts,  // one byte arrives as another
  kSwallows   // nothing arrives, and no completion comes
};

/// How many objects of each kind a test finds held; all zero when nothing leaks.
struct SimHeld {
  int device_lists = 0;
  int contexts = 0;
  int pds = 0;
  int channels = 0;
  int cqs = 0;
  int mrs = 0;
  int qps = 0;
  int unacked_events = 0;
  int misuses = 0;  // releases of what is not held, acks too many
  friend bool operator==(const SimHeld&, const SimHeld&) = default;
};

/// A stateful fake of a node's RDMA devices behind VerbsApi and SysfsFiles.
///
/// Thread-safe: device threads call the tables while a controller changes the hardware. The async
/// fd of a context is a semaphore eventfd over an unbounded queue, so one read takes one event and
/// EPOLLET re-arms with every enqueue, as in the kernel: production epoll and drain code runs
/// unchanged. As in the kernel, that fd and the completion channels' block until their user sets
/// O_NONBLOCK. The tables keep the simulated node alive.
///
/// Devices start ACTIVE; node GUIDs, PCI addresses and netdevs are unique. The entry of a listed
/// device keeps the name from its first listing, as libibverbs' does.
class SimulatedRnic {
 public:
  /// Throws std::invalid_argument for a specification that ParseSimulationSpec() would not give.
  explicit SimulatedRnic(const SimulationSpec& spec);
  /// Ends hangs; what still holds a table may go on using it.
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

  // What only tests need. Like Apply(), these return "" or what is wrong.

  /// Replaces a port's GID table. `netdevs` names the netdev by GID index; an entry without one has
  /// none. Indexes must be below gid_table_length (16). No event is queued.
  std::string SetGids(const std::string& device, uint32_t port, std::vector<GidEntry> gids,
                      std::map<uint32_t, std::string> netdevs = {});
  /// What query_device answers and create_cq enforces.
  std::string SetLimits(const std::string& device, int max_cqe, uint32_t completion_vectors);
  /// For every port of the device.
  std::string SetLoopback(const std::string& device, SimLoopback loopback);
  /// Replaces one sysfs file, or adds it, until its device is unplugged: garbage, an error, a
  /// netdev's speed ("class/net/eth0/speed") that differs from the port's.
  std::string SetFile(const std::string& path, FileRead content);
  /// Removes a sysfs file or directory until its device is plugged anew.
  std::string RemoveFile(const std::string& path);

  /// Calls that hang right now.
  int Hanging() const;
  /// A silent unplug of the device still waits for its last close.
  bool RemovalPending(const std::string& device) const;
  /// Waits until no removal of the device is pending; false after `timeout`.
  bool AwaitRemoval(const std::string& device, Duration timeout) const;
  /// Waits until at least `calls` calls hang; false after `timeout`.
  bool AwaitHanging(int calls, Duration timeout) const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace nicmon
