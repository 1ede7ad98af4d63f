#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/base/published.h"
#include "nicmon/monitor/snapshot.h"

namespace nicmon {

using PortKey = std::pair<DeviceId, uint32_t>;

/// An operator's decision that a port is not to be used.
struct Hold {
  std::string id;  // "h1"; unique for the life of the state
  PortKey port;
  std::string device;  // its name when the hold was made
  std::string reason;
  std::string by;
  WallTime since;
  std::optional<WallTime> until;
};

/// An operator's decision that nicmon keeps its hands off a device.
struct Release {
  std::string reason;
  std::string by;
  WallTime since;
  WallTime until;
};

/// What is remembered of a port beside its hold.
struct PortRecord {
  bool required = false;                 // was ACTIVE once under this identity
  std::optional<uint64_t> baseline_bps;  // highest effective speed seen
};

/// Immutable state of all holds, for readers.
struct HoldsSnapshot {
  std::map<PortKey, Hold> holds;
  std::map<DeviceId, Release> releases;
  std::map<PortKey, PortRecord> records;
  std::map<PortKey, uint64_t> pauses;  // pauses{admin} by port

  const Hold* FindHold(PortKey port, WallTime now) const;  // nullptr: none, or it has ended
  const Release* FindRelease(DeviceId device, WallTime now) const;
  const PortRecord* FindRecord(PortKey port) const;
};

/// Operator decisions and what is remembered of ports: node state, not device state, so that a
/// wedged device can be held too. Thread-safe; no call waits for a device.
class Holds {
 public:
  enum class Result { kDone, kConflict, kNotFound };

  explicit Holds(Clock clock);

  /// kConflict: held already (`*existing` is that hold) and `replace` is false. On kDone
  /// `*existing` is the new hold.
  Result Pause(PortKey port, const std::string& device, const std::string& reason,
               const std::string& by, std::optional<WallTime> until, bool replace, Hold* existing);
  /// kNotFound: no hold. kConflict: `hold_id` is given and is not that of the hold.
  Result Resume(PortKey port, const std::string& hold_id, Hold* lifted);
  /// Drops a hold by its id whatever it belongs to (DELETE /api/v1/holds/{id}).
  Result Delete(const std::string& hold_id, Hold* dropped);

  void SetRelease(DeviceId device, Release release);
  /// Whether there was one.
  bool ClearRelease(DeviceId device);

  /// Called by the device's thread when a port reads ACTIVE: it is required from now on, and its
  /// baseline is the highest speed seen. Cheap when nothing changes.
  void NoteActive(PortKey port, std::optional<uint64_t> effective_bps);
  void SetBaseline(PortKey port, uint64_t bps);
  /// Stops requiring the port and forgets its baseline; whether there was anything to forget.
  bool Forget(PortKey port);
  /// Drops all that is kept of a device that is no longer monitored, but its holds.
  void ForgetDevice(DeviceId device);

  /// Ends what has run out; returns the holds that ended, for the log. Called by main once a
  /// second.
  std::vector<Hold> Expire();

  std::shared_ptr<const HoldsSnapshot> snapshot() const { return published_.load(); }

 private:
  template <typename Change>
  auto Modify(Change change);

  Clock clock_;
  std::mutex mutex_;  // guards the read-copy-publish of a change and next_id_
  uint64_t next_id_ = 1;
  Published<HoldsSnapshot> published_;
};

}  // namespace nicmon
