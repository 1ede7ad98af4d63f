#include "nicmon/monitor/port_tracker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "nicmon/base/limited_log.h"

namespace nicmon {
namespace {

/// GIDs come back late after a flap and may have moved.
constexpr Duration kGidScanAfterRecovery = std::chrono::seconds(10);
/// A GID_CHANGE can be lost like any other event.
constexpr Duration kGidScanInterval = std::chrono::seconds(30);

/// Bytes per second in the busier direction; 0 while nothing is known.
double MeasuredLoad(const std::optional<StatsSample>& stats) {
  if (!stats) {
    return 0;
  }
  return std::max(stats->rx_bytes_per_second.value_or(0), stats->tx_bytes_per_second.value_or(0));
}

}  // namespace

std::string_view QuerySourceName(QuerySource source) {
  switch (source) {
    case QuerySource::kEvent:
      return "event";
    case QuerySource::kTick:
      return "tick";
    case QuerySource::kAdmin:
      return "admin";
  }
  return "";
}

PortTracker::PortTracker(uint32_t number, TrackerContext& context) : context_(context) {
  data_.number = number;
}

log::Field PortTracker::DeviceField() const {
  return {"device", context_.device};
}
log::Field PortTracker::PortField() const {
  return {"port", std::to_string(data_.number)};
}

void PortTracker::Log(const std::string& kind, log::Level level, std::string_view message,
                      std::initializer_list<log::Field> more, Now now) {
  std::vector<log::Field> fields = {DeviceField(), PortField()};
  fields.insert(fields.end(), more);
  LogLimited(context_.log_limit, std::to_string(data_.number) + kind, now.steady, level, message,
             std::move(fields));
}

void PortTracker::Set(PauseReason reason, Now now) {
  if (data_.pauses.Set(reason) == PauseChange::kChanged) {
    data_.pause_since[static_cast<size_t>(reason)] = now.wall;
  }
}

void PortTracker::OnEvent(PortEvent event, Now now) {
  ++data_.counts.events[static_cast<size_t>(event)];
  touched_ = true;
  switch (event) {
    case PortEvent::kPortErr:
      last_port_event_ = event;
      event_since_query_ = true;
      missed_pending_ = false;
      PauseLink(true, QuerySource::kEvent, now);
      break;
    case PortEvent::kPortActive:
      last_port_event_ = event;
      event_since_query_ = true;
      missed_pending_ = false;
      gid_scan_until_ = now.steady + kGidScanAfterRecovery;
      break;
    case PortEvent::kGidChange:
      gid_scan_now_ = true;
      break;
    case PortEvent::kLidChange:
    case PortEvent::kPkeyChange:
    case PortEvent::kSmChange:
    case PortEvent::kClientReregister:
      break;
  }
}

void PortTracker::PauseLink(bool count, QuerySource source, Now now) {
  // Whatever settled before is unstable again; settling restarts with the next recovery.
  ClearSettling();
  if (data_.pauses.Has(PauseReason::kLink)) {
    return;
  }
  Set(PauseReason::kLink, now);
  link_pause_counted_ = count;
  if (!count) {
    return;
  }
  ++data_.counts.link_pauses;
  link_change_.lost = true;
  Log("/lost", log::Level::kWarning, "port lost its link",
      {{"source", std::string(QuerySourceName(source))}}, now);
}

void PortTracker::Activate(QuerySource source, Now now) {
  if (data_.pauses.Clear(PauseReason::kLink) != PauseChange::kChanged) {
    return;
  }
  if (std::exchange(link_pause_counted_, false)) {
    ++data_.counts.flaps;
    link_change_.recovered_after =
        now.wall - data_.pause_since[static_cast<size_t>(PauseReason::kLink)];
  }
  switch (source) {
    case QuerySource::kEvent:
      ++data_.counts.recovered_by_event;
      break;
    case QuerySource::kTick:
      ++data_.counts.recovered_by_tick;
      break;
    case QuerySource::kAdmin:
      ++data_.counts.recovered_by_admin;
      break;
  }
  StartSettling(now);
  gid_scan_until_ = now.steady + kGidScanAfterRecovery;
  Log("/recovered", log::Level::kInfo,
      source == QuerySource::kTick ? "port recovered, no event was seen" : "port recovered",
      {{"source", std::string(QuerySourceName(source))}}, now);
}

void PortTracker::OnTick(Duration elapsed, Now now) {
  if (std::exchange(missed_pending_, false)) {
    ++data_.counts.missed_events;
    RecordMissedEvent(now);
  }
  const auto holds = context_.holds->snapshot();
  const PortKey key{context_.id, data_.number};
  const PortRecord* record = holds->FindRecord(key);
  const bool required = record != nullptr && record->required;
  if (required && !data_.up() && holds->FindHold(key, now.wall) == nullptr &&
      holds->FindRelease(context_.id, now.wall) == nullptr) {
    data_.counts.down += elapsed;
  }
  if (data_.up()) {
    estimate_.Sample(MeasuredLoad(data_.stats));
    data_.estimate_bytes_per_second = estimate_.value();
  }
}

void PortTracker::OnStats(std::optional<StatsSample> stats, const NetdevAttributes& netdev) {
  if (stats) {
    data_.counts.stat_resets = stats->resets;
  }
  data_.stats = std::move(stats);
  data_.netdev = netdev;
}

void PortTracker::StartSettling(Now now) {
  if (context_.settle > Duration(0)) {
    Set(PauseReason::kSettling, now);
    settling_until_ = now.steady + context_.settle;
    data_.settling_until = now.wall + context_.settle;
  }
}

void PortTracker::ClearSettling() {
  data_.pauses.Clear(PauseReason::kSettling);
  data_.settling_until.reset();
  settling_until_.reset();
}

void PortTracker::Settle(Now now) {
  if (settling_until_ && now.steady >= *settling_until_) {
    ClearSettling();
    log::Info("port settled", {DeviceField(), PortField()});
  }
}

void PortTracker::ClearSpeed() {
  data_.effective_speed_bps.reset();
  data_.speed_source.reset();
  data_.nominal_speed_bps.reset();
  data_.lanes.reset();
  data_.lane_speed.clear();
}

void PortTracker::ClearHardware() {
  data_.state.reset();
  data_.physical_state.reset();
  data_.stale = false;
  data_.event_evidence = false;
  data_.last_query_error = 0;
  ClearSpeed();
  data_.mtu_bytes.reset();
  data_.lid.reset();
  data_.sm_lid.reset();
  data_.gid.reset();
  data_.stats.reset();
  data_.netdev = {};
}

void PortTracker::OnClosed(PauseReason reason, const std::string& note, Now now) {
  ClearHardware();
  RecordLink(QuerySource::kEvent, now);  // a loss that no query can follow any more
  ClearSettling();
  // One owner of the port at a time: a release takes a dead device over, and the other way round.
  data_.pauses.Clear(reason == PauseReason::kFatal ? PauseReason::kReleased : PauseReason::kFatal);
  Set(reason, now);
  data_.fatal_note = reason == PauseReason::kFatal ? note : "";
  touched_ = false;
  last_port_event_.reset();
  event_since_query_ = false;
  missed_pending_ = false;
  reopened_ = true;
}

void PortTracker::OnOpened(Now now) {
  data_.pauses.Clear(PauseReason::kReleased);
  data_.fatal_note.clear();
  if (data_.pauses.Clear(PauseReason::kFatal) == PauseChange::kChanged && observed_) {
    StartSettling(now);  // it has just recovered, although its link was never seen to go
  }
  reopened_ = true;
  gid_scan_now_ = true;
}

bool PortTracker::GidScanDue(SteadyTime now) const {
  return gid_scan_now_ || now < gid_scan_until_ || now >= next_gid_scan_;
}

void PortTracker::OnGid(std::optional<Gid> gid, const std::string& note, Now now) {
  gid_scan_now_ = false;
  next_gid_scan_ = now.steady + kGidScanInterval;
  data_.gid = gid;
  data_.gid_note = note;
  if (!gid) {
    return;  // an empty table is pending: the next one that is found is compared with the last
  }
  const std::optional<Gid> before = std::exchange(known_gid_, gid);
  if (before && (before->index != gid->index || before->bytes != gid->bytes)) {
    ++data_.counts.gid_changes;
    Record(TransitionType::kGid, "scan", GidText(*before), GidText(*gid),
           "index " + std::to_string(before->index) + " to " + std::to_string(gid->index), now);
    log::Info("port GID moved", {DeviceField(),
                                 PortField(),
                                 {"from", GidText(*before)},
                                 {"to", GidText(*gid)},
                                 {"index", std::to_string(gid->index)}});
  }
}

void PortTracker::OnGidScanFailed(const std::string& note, Now now) {
  // What was known stays; the next tick asks again.
  gid_scan_now_ = false;
  next_gid_scan_ = now.steady;
  data_.gid_note = note;
}

}  // namespace nicmon
