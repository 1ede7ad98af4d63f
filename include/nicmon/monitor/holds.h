#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/base/bounded_calls.h"
#include "nicmon/base/clock.h"
#include "nicmon/base/published.h"
#include "nicmon/monitor/snapshot.h"

namespace nicmon {

class HoldsFile;

using PortKey = std::pair<DeviceId, uint32_t>;

/// An operator's decision that a port is not to be used.
struct Hold {
  std::string id;      // "hx4k9w-12"; never used twice, see HoldsHome::id_series
  PortKey port;        // device 0 while the hold's device is not known to this process
  std::string device;  // its name when the hold was made
  std::string reason;
  std::string by;
  WallTime since;
  std::optional<WallTime> until;
  std::string extra;  // members of the file that this version does not know, a JSON object or empty
  friend bool operator==(const Hold&, const Hold&) = default;
};

/// An operator's decision that nicmon keeps its hands off a device.
struct Release {
  std::string reason;
  std::string by;
  WallTime since;
  WallTime until;
  std::string boot_id;  // of the kernel it was made under: it ends with a reboot
  std::string extra;
  friend bool operator==(const Release&, const Release&) = default;
};

using Releases = std::map<DeviceId, Release>;

/// A release that ended by itself.
struct EndedRelease {
  std::string device;  // its name, as last known
  Release release;
  bool rebooted = false;  // else its time was over
};

/// What is remembered of a port beside its hold.
struct PortRecord {
  bool required = false;                 // was ACTIVE once under this identity
  std::optional<uint64_t> baseline_bps;  // highest effective speed seen
  friend bool operator==(const PortRecord&, const PortRecord&) = default;
};

/// What tells a device from all others for longer than its name and index do.
struct DeviceKey {
  std::string node_guid;    // "0c42:a103:0065:4ba2"; empty: none
  std::string pci_address;  // empty: none of its own
  /// Whether it will be known again after a restart.
  bool durable() const { return !node_guid.empty() || !pci_address.empty(); }
  friend bool operator==(const DeviceKey&, const DeviceKey&) = default;
};

/// A device that is there.
struct SeenDevice {
  DeviceId id = 0;
  std::string name;
  DeviceKey key;
};

struct KeptPort {
  std::optional<Hold> hold;
  PortRecord record;
  std::string extra;
  bool Empty() const { return !hold && !record.required && !record.baseline_bps && extra.empty(); }
  friend bool operator==(const KeptPort&, const KeptPort&) = default;
};

/// All that is kept of one device, whether it is there or not.
struct KeptDevice {
  DeviceKey key;
  std::string machine_id;  // where key.pci_address is; empty: not known
  std::string name;        // when it was last seen
  DeviceId device = 0;     // who it is in this process; 0: not seen by it
  bool present = false;
  std::optional<WallTime> orphaned_since;  // another device sits in its place since then
  std::optional<Release> release;
  std::map<uint32_t, KeptPort> ports;
  std::string extra;

  bool Empty() const;
  friend bool operator==(const KeptDevice&, const KeptDevice&) = default;
};

/// Immutable state of all holds, for readers.
struct HoldsSnapshot {
  /// A hold in force and whose it is; both are the snapshot's.
  struct Item {
    const Hold* hold;
    const KeptDevice* kept;
  };

  std::map<uint64_t, KeptDevice> kept;  // by a number of this process
  std::map<DeviceId, uint64_t> bound;   // device → its entry of `kept`
  std::map<PortKey, uint64_t> pauses;   // pauses{admin} by port
  uint64_t next_hold = 1;
  uint64_t next_kept = 1;
  int version = 1;       // of the file
  std::string extra;     // of the file
  bool durable = false;  // what operators decide is on disk before they are told so
  bool lost = false;     // a file that could not be read whole lies beside the one in use

  const Hold* FindHold(PortKey port, WallTime now) const;  // nullptr: none, or it has ended
  const Release* FindRelease(DeviceId device, WallTime now) const;
  const PortRecord* FindRecord(PortKey port) const;
  const KeptDevice* Find(DeviceId device) const;
  /// All that are in force, by device name and port; those of devices that are not there too.
  std::vector<Item> InForce(WallTime now) const;
  /// Holds that wait for a device while another one sits in its place.
  size_t CountOrphaned(WallTime now) const;
};

/// Where the holds are kept, and what that is bound to.
struct HoldsHome {
  std::shared_ptr<HoldsFile> file;  // nullptr: in memory only
  std::string machine_id;           // empty: not known
  std::string boot_id;
  /// Stands in the ids of new holds, before their number: a random text of this process. Numbers
  /// alone begin again when the file is lost, and what runs on from an older copy of it repeats
  /// them; an id in a log must not come to mean another hold. Empty: "h1", for tests.
  std::string id_series;
  Duration patience = std::chrono::seconds(5);  // with the disk
};

/// Operator decisions and what is remembered of ports: node state, not device state, so that a
/// wedged device can be held too. Thread-safe; no call waits for a device.
///
/// What an operator decides is on disk before the call returns, and in force only then; such a call
/// may wait for the disk, but for HoldsHome::patience at most: then nothing has changed. (The disk
/// may still have taken it, and a process that ends before the disk answers leaves it there; else
/// the next write puts there what is in force.) What device threads and discovery tell is in force
/// at once and on disk after the next Flush(). Readers wait for neither.
class Holds {
 public:
  enum class Result {
    kDone,
    kConflict,
    kNotFound,
    kNotStored  // the disk did not take it; nothing has changed, and `*why` says why not
  };

  explicit Holds(Clock clock, HoldsHome home = {});
  ~Holds();

  /// kConflict: held already (`*existing` is that hold) and `replace` is false. On kDone
  /// `*existing` is the new hold, and `*replaced` the one that gave way to it, if there was one.
  Result Pause(PortKey port, const std::string& device, const std::string& reason,
               const std::string& by, std::optional<WallTime> until, bool replace, Hold* existing,
               std::string* why = nullptr, std::optional<Hold>* replaced = nullptr);
  /// kNotFound: no hold. kConflict: `hold_id` is given and is not that of the hold.
  Result Resume(PortKey port, const std::string& hold_id, Hold* lifted, std::string* why = nullptr);
  /// Drops a hold by its id whatever it belongs to (DELETE /api/v1/holds/{id}).
  Result Delete(const std::string& hold_id, Hold* dropped, std::string* why = nullptr);

  /// All of the devices or none. `*replaced`: the releases in force that gave way to it.
  Result SetRelease(const std::vector<DeviceId>& devices, Release release,
                    std::string* why = nullptr, Releases* replaced = nullptr);
  Result SetRelease(DeviceId device, Release release) {
    return SetRelease(std::vector{device}, std::move(release));
  }
  /// kNotFound: none of the devices was released. `*ended`: the releases that were in force.
  Result ClearRelease(const std::vector<DeviceId>& devices, std::string* why = nullptr,
                      Releases* ended = nullptr);
  Result ClearRelease(DeviceId device) { return ClearRelease(std::vector{device}); }

  Result SetBaseline(PortKey port, uint64_t bps, std::string* why = nullptr);
  /// Stops requiring the port and forgets its baseline. kNotFound: there was nothing to forget.
  Result Forget(PortKey port, std::string* why = nullptr);
  /// The same for a port of a device that this process has not seen, by the name it had, its GUID
  /// or its PCI address.
  Result ForgetAbsent(const std::string& device, uint32_t port, std::string* why = nullptr);

  // Never wait for the disk.

  /// Called by the device's thread when a port reads ACTIVE: it is required from now on, and its
  /// baseline is the highest speed seen. Cheap when nothing changes.
  void NoteActive(PortKey port, std::optional<uint64_t> effective_bps);
  /// Told by discovery before it shows a device to anybody: all that are there. Finds what is kept
  /// of each.
  void SeePresent(const std::vector<SeenDevice>& devices);
  /// Drops all that is kept of a device that is no longer monitored, but its holds.
  void ForgetDevice(DeviceId device);

  /// Ends what has run out, and orphans of 30 days; returns the holds that ended. Called by main
  /// once a second.
  std::vector<Hold> Expire();
  /// The releases that have ended by themselves since the last call, those of a restart or a reboot
  /// with the first. Called by main after Expire().
  std::vector<EndedRelease> TakeEndedReleases();

  /// Writes what has changed without a write of its own, if anything. Waits for the disk. Whether
  /// the disk has everything now.
  bool Flush();
  /// Looks whether a file that could not be read still lies beside the one in use.
  void CheckLost();

  std::shared_ptr<const HoldsSnapshot> snapshot() const { return published_.load(); }

 private:
  /// What a decision does to the state. Applied to a copy that is written, then to the state as it
  /// is by then: it must not depend on what others may change meanwhile. Entries of `kept` stay.
  using Effect = std::function<void(HoldsSnapshot&)>;
  /// Looks at the state, to which it may add entries for devices: what is to be answered and, if
  /// something is to be done, the effect that does it.
  using Decide = std::function<Result(HoldsSnapshot&, Effect*)>;

  void Load();
  bool Modify(const std::function<bool(HoldsSnapshot&)>& change);
  Result Durably(std::string* why, const Decide& decide);
  /// With `lock` on mutex_, which it gives back for the time of the write. "" or why not.
  std::string Write(std::unique_lock<std::mutex>& lock, const HoldsSnapshot& state,
                    Duration patience);
  std::string WriteFile(const std::string& text, Duration patience);

  const Clock clock_;
  const HoldsHome home_;
  BoundedCalls disk_;  // all calls of home_.file once it is read
  std::mutex mutex_;   // guards the read-copy-publish of a change and all below but published_
  std::condition_variable idle_;  // writing_ has become false
  bool writing_ = false;          // somebody waits for the disk, without the mutex
  uint64_t generation_ = 0;       // of the state, as far as the file has it
  uint64_t written_ = 0;          // the generation on disk
  std::string write_error_;       // of the last write
  std::vector<EndedRelease> ended_releases_;
  std::string written_text_;  // what the file has; whoever set writing_ may use it
  Published<HoldsSnapshot> published_;
};

}  // namespace nicmon
