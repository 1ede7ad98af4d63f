// PortTracker, what the answer of a query does to its port.
#include <utility>

#include "nicmon/base/errno_text.h"
#include "nicmon/monitor/port_tracker.h"

namespace nicmon {
namespace {

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

}  // namespace

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
  RecordLink(source, now);
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
      Record(TransitionType::kMismatch, "event", "", std::string(PortStateName(seen.state)),
             "spurious event: " + std::string(PortEventName(*last_port_event_)), now);
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
  RecordLink(source, now);
  ObserveSpeed(seen, source, now);
  ObserveLids(seen, source, now);
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
    link_change_.seen_first = true;
    log::Info("port first seen since nicmon started",
              {DeviceField(), PortField(), {"state", std::string(PortStateName(*state))}});
    return;
  }
  link_change_.before = before;
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
    PauseLink(observed_, source, now);
  }
}

void PortTracker::ObserveSpeed(const PortObservation& seen, QuerySource source, Now now) {
  if (!data_.up()) {
    // What a port that is not ACTIVE reports are leftovers. The estimate stays as it was.
    ClearSpeed();
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
      Record(TransitionType::kSpeed, std::string(QuerySourceName(source)), Gbps(before),
             Gbps(known_speed_), "", now);
      log::Write(*known_speed_ < *before ? log::Level::kWarning : log::Level::kInfo,
                 "port speed changed",
                 {DeviceField(), PortField(), {"from", Gbps(before)}, {"to", Gbps(known_speed_)}});
    }
    estimate_.Seed(static_cast<double>(*known_speed_) / 8);
  }
  data_.estimate_bytes_per_second = estimate_.value();
  context_.holds->NoteActive({context_.id, data_.number}, data_.effective_speed_bps);
}

void PortTracker::ObserveLids(const PortObservation& seen, QuerySource source, Now now) {
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
    Record(TransitionType::kLid, std::string(QuerySourceName(source)), std::to_string(*before),
           std::to_string(*seen.lid), "", now);
    log::Info("port LID changed", {DeviceField(),
                                   PortField(),
                                   {"from", std::to_string(*before)},
                                   {"to", std::to_string(*seen.lid)}});
  }
}

}  // namespace nicmon
