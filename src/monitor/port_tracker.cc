#include "nicmon/monitor/port_tracker.h"

#include <utility>
#include <vector>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/limited_log.h"

namespace nicmon {
namespace {

/// GIDs come back late after a flap and may have moved.
constexpr Duration kGidScanAfterRecovery = std::chrono::seconds(10);
/// A GID_CHANGE can be lost like any other event.
constexpr Duration kGidScanInterval = std::chrono::seconds(30);

std::string Gbps(std::optional<uint64_t> bps) {
  if (!bps) {
    return "unknown";
  }
  std::string text = std::to_string(*bps / 1'000'000'000);
  if (const uint64_t tenths = *bps / 100'000'000 % 10; tenths != 0) {
    text += "." + std::to_string(tenths);
  }
  return text + " Gb/s";
}

const char* SourceName(QuerySource source) {
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

}  // namespace

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
      PauseLink(true, "event", now);
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

void PortTracker::PauseLink(bool count, const char* how, Now now) {
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
  Log("/lost", log::Level::kWarning, "port lost its link", {{"source", how}}, now);
}

void PortTracker::Activate(QuerySource source, Now now) {
  if (data_.pauses.Clear(PauseReason::kLink) != PauseChange::kChanged) {
    return;
  }
  if (std::exchange(link_pause_counted_, false)) {
    ++data_.counts.flaps;
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
      {{"source", SourceName(source)}}, now);
}

void PortTracker::OnObservation(const PortObservation& seen, QuerySource source, Now now) {
  if (seen.error != 0) {
    ObserveFailure(seen, source, now);
  } else {
    Observe(seen, source, now);
  }
  if (source == QuerySource::kEvent) {
    last_port_event_.reset();
  }
  touched_ = false;
}

void PortTracker::ObserveFailure(const PortObservation& seen, QuerySource source, Now now) {
  ++data_.counts.queries_failed;
  const bool new_error = data_.last_query_error != seen.error;
  data_.last_query_error = seen.error;
  data_.stale = true;
  data_.event_evidence = false;
  if (source == QuerySource::kEvent && last_port_event_ == PortEvent::kPortActive) {
    // No answer from the hardware: the event is the evidence until the next tick.
    SetState(kStateActive, now);
    data_.physical_state.reset();
    data_.event_evidence = true;
    Activate(source, now);
  }
  // A new error is told at once, the same one again only now and then.
  Log("/query/" + std::to_string(seen.error), log::Level::kWarning,
      new_error ? "port query failed, its last state is kept and marked stale"
                : "port query still fails",
      {{"error", ErrnoText(seen.error)}}, now);
}

void PortTracker::Observe(const PortObservation& seen, QuerySource source, Now now) {
  ++data_.counts.queries_ok;
  if (std::exchange(data_.last_query_error, 0) != 0) {
    log::Info("port query answers again", {DeviceField(), PortField()});
  }
  data_.stale = false;
  data_.event_evidence = false;
  data_.last_query = now.wall;
  data_.last_query_steady = now.steady;

  const bool reads_active = seen.state == kStateActive;
  if (source == QuerySource::kEvent && last_port_event_) {
    // The hardware has the last word about what its last event said.
    if (reads_active != (*last_port_event_ == PortEvent::kPortActive)) {
      ++data_.counts.spurious_events;
    }
  }
  const bool watched_before = observed_ && !reopened_;
  if (watched_before && data_.up() != reads_active && !event_since_query_) {
    missed_pending_ = true;
  }
  event_since_query_ = false;

  data_.link_layer = seen.link_layer;
  data_.physical_state = seen.physical_state;
  data_.mtu_bytes = seen.mtu_bytes;
  SetState(seen.state, now);
  ObserveLink(source, now);
  ObserveSpeed(seen);
  ObserveLids(seen);
  observed_ = true;
  reopened_ = false;
}

void PortTracker::SetState(std::optional<int> state, Now now) {
  data_.state = state;
  if (!state || known_state_ == state) {
    return;
  }
  const std::optional<int> before = std::exchange(known_state_, state);
  if (!before) {
    log::Info("port seen for the first time",
              {DeviceField(), PortField(), {"state", std::string(PortStateName(*state))}});
    return;
  }
  data_.last_change = now.wall;
  if (*state == kStateActive) {
    ++data_.counts.to_active;
  } else if (*state == kStateDown) {
    ++data_.counts.to_down;
  } else {
    ++data_.counts.to_other;
  }
  const bool up = *state == kStateActive;
  Log(up ? "/up" : "/down", up ? log::Level::kInfo : log::Level::kWarning, "port state changed",
      {{"from", std::string(PortStateName(*before))}, {"to", std::string(PortStateName(*state))}},
      now);
}

void PortTracker::ObserveLink(QuerySource source, Now now) {
  if (data_.up()) {
    Activate(source, now);
  } else {
    // A port that is first seen down lost nothing; one that was watched did.
    PauseLink(observed_, SourceName(source), now);
  }
}

void PortTracker::ObserveSpeed(const PortObservation& seen) {
  if (!data_.up()) {
    // What a port that is not ACTIVE reports are leftovers. The estimate stays as it was.
    data_.effective_speed_bps.reset();
    data_.speed_source.reset();
    data_.nominal_speed_bps.reset();
    data_.lanes.reset();
    data_.lane_speed.clear();
    return;
  }
  data_.effective_speed_bps = seen.effective_speed_bps;
  data_.speed_source = seen.speed_source;
  data_.nominal_speed_bps = seen.nominal_speed_bps;
  data_.lanes = seen.lanes;
  data_.lane_speed = seen.lane_speed;
  if (seen.effective_speed_bps) {
    const std::optional<uint64_t> before = std::exchange(known_speed_, seen.effective_speed_bps);
    if (before && before != known_speed_) {
      ++data_.counts.speed_changes;
      log::Write(*known_speed_ < *before ? log::Level::kWarning : log::Level::kInfo,
                 "port speed changed",
                 {DeviceField(), PortField(), {"from", Gbps(before)}, {"to", Gbps(known_speed_)}});
    }
    estimate_.Seed(static_cast<double>(*known_speed_) / 8);
  }
  data_.estimate_bytes_per_second = estimate_.value();
  context_.holds->NoteActive({context_.id, data_.number}, data_.effective_speed_bps);
}

void PortTracker::ObserveLids(const PortObservation& seen) {
  data_.lid.reset();
  data_.sm_lid.reset();
  if (seen.link_layer != "InfiniBand" || !data_.up()) {
    return;  // a LID means something only on an ACTIVE InfiniBand port
  }
  data_.lid = seen.lid;
  data_.sm_lid = seen.sm_lid;
  const std::optional<uint32_t> before = std::exchange(known_lid_, seen.lid);
  if (before && seen.lid && *before != *seen.lid) {
    ++data_.counts.lid_changes;
    log::Info("port LID changed", {DeviceField(),
                                   PortField(),
                                   {"from", std::to_string(*before)},
                                   {"to", std::to_string(*seen.lid)}});
  }
}

void PortTracker::OnTick(Duration elapsed, Now now) {
  if (std::exchange(missed_pending_, false)) {
    ++data_.counts.missed_events;
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
    estimate_.Sample(0);
    data_.estimate_bytes_per_second = estimate_.value();
  }
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

void PortTracker::ClearHardware() {
  data_.state.reset();
  data_.physical_state.reset();
  data_.stale = false;
  data_.event_evidence = false;
  data_.last_query_error = 0;
  data_.effective_speed_bps.reset();
  data_.speed_source.reset();
  data_.nominal_speed_bps.reset();
  data_.lanes.reset();
  data_.lane_speed.clear();
  data_.mtu_bytes.reset();
  data_.lid.reset();
  data_.sm_lid.reset();
  data_.gid.reset();
}

void PortTracker::OnClosed(PauseReason reason, const std::string& note, Now now) {
  ClearHardware();
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
