#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/base/epoll.h"
#include "nicmon/base/heartbeat.h"
#include "nicmon/base/published.h"
#include "nicmon/monitor/device_prober.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/pending.h"
#include "nicmon/monitor/port_tracker.h"
#include "nicmon/monitor/snapshot.h"
#include "nicmon/monitor/stats.h"
#include "nicmon/monitor/transition.h"
#include "nicmon/sysfs/files.h"
#include "nicmon/sysfs/link_attribute_reader.h"
#include "nicmon/sysfs/stats_sampler.h"

namespace nicmon {

class DeviceContext;
struct AcquireOptions;
struct AsyncEvent;
struct VerbsApi;

/// What every device monitor of the node shares.
struct MonitorShared {
  std::shared_ptr<const VerbsApi> verbs;
  SysfsFiles sysfs;
  Clock clock;
  std::shared_ptr<Holds> holds;
  std::shared_ptr<NodeStats> stats;
  RecordTransition record;  // may be empty
  Duration tick = std::chrono::seconds(1);
  Duration settle{0};
  Duration counters_interval = std::chrono::seconds(15);
  DataPathMode data_path = DataPathMode::kOnDemand;
};

/// What discovery knows of a device.
struct DeviceSighting {
  std::string name;
  int kernel_index = -1;  // -1: the kernel has none
  std::string uverbs;     // "uverbs0"
  bool listed = true;     // in the verbs list; false: sysfs has it, but its device node is missing
  friend bool operator==(const DeviceSighting&, const DeviceSighting&) = default;
};

/// Watches one device: opens it, drains its events, queries its ports, publishes what it saw.
///
/// One thread runs Run() (or a test calls Turn()); only that thread calls the device's verbs, reads
/// its files and changes its ports. Everything under "any thread" never waits for it.
class DeviceMonitor {
 public:
  DeviceMonitor(DeviceId id, std::shared_ptr<const MonitorShared> shared, DeviceSighting sighting);
  ~DeviceMonitor();

  // Any thread.
  DeviceId id() const { return context_.id; }
  std::shared_ptr<const DeviceSnapshot> snapshot() const { return published_.load(); }
  Heartbeat::Reading heartbeat() const { return heartbeat_.Read(); }
  /// The device is there (perhaps renamed or re-created), or (nullopt) gone.
  void OnDiscovery(std::optional<DeviceSighting> sighting);
  /// Refusals (queue full, stopping) answer through the Pending at once.
  std::shared_ptr<Pending> Submit(CommandKind kind, uint32_t port);
  /// On a thread of its own; waits for at most `patience`.
  ProbeOutcome Probe(uint32_t port, Duration patience) { return prober_.Probe(port, patience); }
  bool probing() const { return prober_.probing(); }
  /// Ends Run() after the call it is in; commands under way and later ones answer kStopping.
  void RequestStop();

  // The device's thread.
  void Run();
  /// One turn of the loop; waits at most `max_wait` for something to do.
  void Turn(Duration max_wait);

 private:
  /// What other threads want, taken once a turn.
  struct Mail {
    std::optional<std::optional<DeviceSighting>> discovery;  // the latest
    std::vector<std::shared_ptr<Pending>> commands;
  };

  Now Time() const { return {shared_->clock.steady(), shared_->clock.wall()}; }
  Mail TakeMail();
  SteadyTime NextDeadline() const;
  int WaitMilliseconds(SteadyTime now, Duration max_wait) const;
  void TurnBusy(std::span<const Epoll::Ready> ready);
  bool released(WallTime now) const;

  void ApplyDiscovery(const std::optional<DeviceSighting>& sighting);
  void ApplyRelease();
  void OpenIfDue();
  void Open();
  AcquireOptions HowToOpen() const;
  void Opened();
  void OpenFailed(bool denied, const std::string& why);
  void Close(DeviceStatus status, PauseReason reason, const std::string& detail);
  void CloseDead(const std::string& why);
  void SetStatus(DeviceStatus status, const std::string& detail);
  void Record(std::string cause, std::string before, std::string after, std::string note);
  void SetPorts(const std::vector<uint32_t>& numbers);
  std::vector<uint32_t> KeptPorts() const;
  void ReadDeviceIdentity();
  /// Where sysfs does not have the firmware's version, the verbs do.
  void NoteFirmware();
  std::string NetdevOf(uint32_t port) const;

  void TakeEvents();
  void OnEvent(const AsyncEvent& event);
  void OnDeviceFatal();
  void LogOddity(const char* message, const char* key, int value);
  void Settle();
  void Tick();
  void TickFromSysfs();
  void QueryTouched();
  /// errno of the query.
  int Query(PortTracker& port, QuerySource source);
  void ScanGids(bool tick);
  void ScanGid(PortTracker& port);
  void StartSampling();
  void StopSampling();
  bool SamplingDue(SteadyTime now) const { return sampler_ && sampler_->due() <= now; }
  /// Before a tick: reads the counters that belong to it. False while some are left, which the next
  /// turns read after a look for events.
  bool ReadTraffic();
  void SampleFiles();
  bool ReadOneLinkAttribute();
  void LookAfterDataPath();
  CommandResult RunCommand(const Pending& command);
  void Publish();
  PortTracker* FindPort(int number);
  BusyScope Busy(const char* call) { return {heartbeat_, call, shared_->clock.steady()}; }

  const std::shared_ptr<const MonitorShared> shared_;
  Heartbeat heartbeat_;
  DeviceProber prober_;
  Published<DeviceSnapshot> published_;
  Waker waker_;
  mutable std::mutex mutex_;  // guards mail_, taken_ and stopping_
  Mail mail_;
  std::vector<std::shared_ptr<Pending>> taken_;  // the commands of the turn under way
  bool stopping_ = false;

  // Below: the device's thread only (asserted in Turn).
  std::thread::id owner_;
  Epoll epoll_;
  EpollRegistration wake_watch_;
  TrackerContext context_;
  DeviceSighting sighting_;
  bool present_ = true;
  std::unique_ptr<DeviceContext> device_;
  std::vector<std::unique_ptr<PortTracker>> ports_;  // ascending; never shrinks
  DeviceSnapshot data_;                              // all but the ports, which come from ports_
  bool dirty_ = true;                                // something is to be published
  std::vector<Transition> untold_;                   // records whose state is not published yet
  std::map<uint32_t, uint32_t> gid_slots_;           // length of the GID table, by port
  bool more_events_ = false;
  int eio_ticks_ = 0;  // ticks in a row in which every port answered EIO
  SteadyTime last_tick_;
  SteadyTime next_tick_;
  SteadyTime next_open_;
  Duration open_backoff_{0};
  StatsHistory stats_history_;
  std::unique_ptr<StatsSampler> sampler_;   // while the device is open, or denied
  bool traffic_begun_ = false;              // ReadTraffic has not read all of it yet
  LinkAttributeReader links_;               // driven by sampler_
  bool links_begun_ = false;                // a round of links_ is under way
  std::optional<SteadyTime> event_wakeup_;  // of the turn, while events were taken in it
};

}  // namespace nicmon
