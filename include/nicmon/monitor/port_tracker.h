#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nicmon/base/clock.h"
#include "nicmon/base/log.h"
#include "nicmon/base/rate_limit.h"
#include "nicmon/monitor/estimate.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/snapshot.h"
#include "nicmon/monitor/transition.h"

namespace nicmon {

struct Now {
  SteadyTime steady;
  WallTime wall;
};

/// Who asked the hardware; also who gets the credit for a recovery.
enum class QuerySource { kEvent, kTick, kAdmin };
std::string_view QuerySourceName(QuerySource source);

/// The answer of one port query, from verbs or (for a device that cannot be opened) from sysfs.
struct PortObservation {
  int error = 0;  // errno; then nothing else is valid
  int state = 0;
  std::optional<int> physical_state;
  std::string link_layer;
  std::optional<uint64_t> effective_speed_bps;
  std::optional<SpeedSource> speed_source;
  std::optional<uint64_t> nominal_speed_bps;
  std::optional<uint32_t> lanes;
  std::string lane_speed;
  std::optional<uint32_t> mtu_bytes;
  std::optional<uint32_t> lid, sm_lid;
};

/// What all ports of a device share; owned by the device's monitor, used on its thread.
struct TrackerContext {
  std::string device;  // its present name, for the log
  DeviceId id = 0;
  Duration settle{0};
  std::shared_ptr<Holds> holds;
  RecordTransition record;  // may be empty
  RateLimit log_limit;
};

/// The state machine of one port: events are hints, queries are truth, reasons pause it. Does no
/// I/O itself. Used on the device's thread only.
class PortTracker {
 public:
  PortTracker(uint32_t number, TrackerContext& context);

  /// One async event of this port. PORT_ERR pauses at once, so the shortest flap counts.
  void OnEvent(PortEvent event, Now now);

  /// Something about the device changed: query this port after the batch.
  void Touch() { touched_ = true; }
  bool touched() const { return touched_; }

  /// The one query after a batch (kEvent), of a tick, or of an operator.
  void OnObservation(const PortObservation& seen, QuerySource source, Now now);

  /// Before the query of a tick: settles what the last tick left open and accounts for the time
  /// since. `elapsed` is that time.
  void OnTick(Duration elapsed, Now now);

  /// The context is gone: fatal (with a note) or released. Forgets the state, keeps the counts.
  void OnClosed(PauseReason reason, const std::string& note, Now now);
  /// A context is there again, or the release is over.
  void OnOpened(Now now);

  /// A round of samples is complete.
  void OnStats(std::optional<StatsSample> stats, const NetdevAttributes& netdev);

  /// Ends settling when it is due; call when settle_deadline() has passed.
  void Settle(Now now);
  std::optional<SteadyTime> settle_deadline() const { return settling_until_; }

  /// Whether the GID table is to be scanned at once (a new context, GID_CHANGE).
  bool gid_scan_now() const { return gid_scan_now_; }
  /// Whether it is to be scanned with this tick: also in the 10 s after a recovery, and every 30 s.
  bool GidScanDue(SteadyTime now) const;
  void OnGid(std::optional<Gid> gid, const std::string& note, Now now);
  void OnGidScanFailed(const std::string& note, Now now);

  const PortSnapshot& snapshot() const { return data_; }

 private:
  void Observe(const PortObservation& seen, QuerySource source, Now now);
  void ObserveFailure(const PortObservation& seen, QuerySource source, Now now);
  void SetState(std::optional<int> state, Now now);
  void ObserveLink(QuerySource source, Now now);
  void ObserveSpeed(const PortObservation& seen, QuerySource source, Now now);
  void ObserveLids(const PortObservation& seen, QuerySource source, Now now);
  void Activate(QuerySource source, Now now);
  void StartSettling(Now now);
  void ClearSettling();
  void PauseLink(bool count, QuerySource source, Now now);
  void Set(PauseReason reason, Now now);
  void ClearSpeed();
  void ClearHardware();
  void RecordLink(QuerySource source, Now now);
  void RecordMissedEvent(Now now);
  void Record(TransitionType type, std::string cause, std::string before, std::string after,
              std::string note, Now now);
  log::Field DeviceField() const;
  log::Field PortField() const;
  /// Rate-limited by `kind` within this port.
  void Log(const std::string& kind, log::Level level, std::string_view message,
           std::initializer_list<log::Field> more, Now now);

  /// What happened to the link since the last record of it.
  struct LinkChange {
    bool seen_first = false;
    std::optional<int> before;  // the state left
    bool lost = false;
    std::optional<Duration> recovered_after;
  };

  TrackerContext& context_;
  PortSnapshot data_;
  LinkChange link_change_;
  BandwidthEstimate estimate_;

  bool touched_ = false;
  std::optional<PortEvent> last_port_event_;  // PORT_ACTIVE or PORT_ERR of the current batch
  bool event_since_query_ = false;       // a PORT_* event came after the last query that succeeded
  bool missed_pending_ = false;          // a change without an event; the event may still come
  bool observed_ = false;                // at least one query succeeded: from now on changes count
  bool reopened_ = false;                // the next observation is the first of a new context
  bool link_pause_counted_ = false;      // the present link pause was a loss, so its end is a flap
  std::optional<int> known_state_;       // survives a close, to compare with what comes after
  std::optional<uint64_t> known_speed_;  // last speed while ACTIVE
  std::optional<uint32_t> known_lid_;
  std::optional<Gid> known_gid_;
  std::optional<SteadyTime> settling_until_;
  SteadyTime gid_scan_until_{};
  SteadyTime next_gid_scan_{};
  bool gid_scan_now_ = true;
};

}  // namespace nicmon
