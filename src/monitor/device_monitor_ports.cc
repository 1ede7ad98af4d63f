#include <algorithm>
#include <cerrno>
#include <utility>

#include "nicmon/base/limited_log.h"
#include "nicmon/device/device_context.h"
#include "nicmon/monitor/device_monitor.h"
#include "nicmon/verbs/drain.h"
#include "nicmon/verbs/events.h"
#include "nicmon/verbs/link_speed.h"

// What a device says of its ports: events, queries, GID tables.
namespace nicmon {
namespace {

/// Events taken in one turn: a storm starves neither the tick nor commands.
constexpr int kEventBudget = 1024;
constexpr int kEioTicks = 5;

std::optional<PortEvent> PortEventOf(int type) {
  switch (type) {
    case IBV_EVENT_PORT_ACTIVE:
      return PortEvent::kPortActive;
    case IBV_EVENT_PORT_ERR:
      return PortEvent::kPortErr;
    case IBV_EVENT_LID_CHANGE:
      return PortEvent::kLidChange;
    case IBV_EVENT_PKEY_CHANGE:
      return PortEvent::kPkeyChange;
    case IBV_EVENT_SM_CHANGE:
      return PortEvent::kSmChange;
    case IBV_EVENT_CLIENT_REREGISTER:
      return PortEvent::kClientReregister;
    case IBV_EVENT_GID_CHANGE:
      return PortEvent::kGidChange;
    default:
      return std::nullopt;
  }
}

std::string LinkLayerName(int link_layer) {
  switch (link_layer) {
    case IBV_LINK_LAYER_INFINIBAND:
      return "InfiniBand";
    case IBV_LINK_LAYER_ETHERNET:
      return "Ethernet";
    default:
      return "";
  }
}

PortObservation Observation(const PortReading& reading) {
  PortObservation seen;
  seen.error = reading.error;
  if (seen.error != 0) {
    return seen;
  }
  const PortAttributes& port = reading.attributes;
  seen.state = port.state;
  seen.physical_state = port.physical_state;
  // The spec leaves 0 unspecified for InfiniBand: what old drivers report.
  seen.link_layer =
      port.link_layer == IBV_LINK_LAYER_UNSPECIFIED ? "InfiniBand" : LinkLayerName(port.link_layer);
  if (reading.effective) {
    seen.effective_speed_bps = reading.effective->bps;
    seen.speed_source = reading.effective->source;
  }
  seen.nominal_speed_bps = reading.nominal_bps;
  seen.lanes = reading.lanes;
  seen.lane_speed = reading.lane_name;
  seen.mtu_bytes = MtuBytes(port.active_mtu);
  seen.lid = port.lid;
  seen.sm_lid = port.sm_lid;
  return seen;
}

}  // namespace

void DeviceMonitor::TakeEvents() {
  DrainResult result;
  {
    const BusyScope busy = Busy("get_async_event");
    result = DrainEvents(*shared_->verbs, device_->context(), kEventBudget,
                         [this](const AsyncEvent& event) { OnEvent(event); });
  }
  shared_->stats->drain_events_per_wakeup.Observe(result.events);
  more_events_ = result.more;
  dirty_ = dirty_ || result.events > 0;
  if (result.device_fatal) {
    OnDeviceFatal();
  } else if (result.error != 0) {
    ++data_.async_read_errors;
    dirty_ = true;
    if (result.error == EIO) {
      CloseDead("reading async events answers EIO");
    } else {
      LogOddity("reading async events failed", "errno", result.error);
    }
  }
}

void DeviceMonitor::OnEvent(const AsyncEvent& event) {
  if (const auto port_event = PortEventOf(event.type)) {
    if (PortTracker* port = FindPort(event.port)) {
      port->OnEvent(*port_event, Time());
      device_->speed_policy().Refresh();  // a member of a bond may have gone or come
    } else {
      ++data_.events_other;
      LogOddity("event for a port that the device does not have", "port", event.port);
    }
    return;
  }
  const EventType* known = FindEventType(event.type);
  if (known != nullptr) {
    ++data_.events[static_cast<size_t>(event.type)];
  }
  if (event.type == kDeviceSpeedChange) {
    device_->speed_policy().Refresh();
    for (const auto& port : ports_) {
      port->Touch();
    }
  } else if (known == nullptr) {
    ++data_.events_other;
    for (const auto& port : ports_) {
      port->Touch();
    }
    LogOddity("async event of an unknown type", "number", event.type);
  }
  // DEVICE_FATAL ends the batch: see TakeEvents. CQ, QP, SRQ and WQ events concern objects of our
  // own only; there are none here.
}

void DeviceMonitor::LogOddity(const char* message, const char* key, int value) {
  const std::string text = std::to_string(value);
  LogLimited(context_.log_limit, message + text, shared_->clock.steady(), log::Level::kWarning,
             message, {{"device", data_.name}, {key, text}});
}

int DeviceMonitor::Query(PortTracker& port, QuerySource source) {
  const SteadyTime start = shared_->clock.steady();
  PortReading reading;
  {
    const BusyScope busy = Busy("query_port");
    reading = device_->Query(port.snapshot().number, start);
  }
  const Duration took = shared_->clock.steady() - start;
  shared_->stats->port_query_seconds.Observe(std::chrono::duration<double>(took).count());
  if (reading.error == 0) {
    gid_slots_[port.snapshot().number] = static_cast<uint32_t>(reading.attributes.gid_table_length);
  }
  port.OnObservation(Observation(reading), source, Time());
  dirty_ = true;
  return reading.error;
}

void DeviceMonitor::QueryTouched() {
  if (!device_) {
    return;
  }
  for (const auto& port : ports_) {
    if (port->touched()) {
      Query(*port, QuerySource::kEvent);
    }
  }
  ScanGids(false);
}

void DeviceMonitor::ScanGids(bool tick) {
  for (const auto& port : ports_) {
    if (port->gid_scan_now() || (tick && port->GidScanDue(shared_->clock.steady()))) {
      ScanGid(*port);
    }
  }
}

void DeviceMonitor::ScanGid(PortTracker& port) {
  const uint32_t number = port.snapshot().number;
  dirty_ = true;
  GidTable table;
  {
    const BusyScope busy = Busy("query_gid_table");
    table = ReadGidTable(*shared_->verbs, device_->context(), number, gid_slots_[number],
                         device_->port_count());
  }
  GidChoice choice;
  {
    const BusyScope busy = Busy("sysfs_read");
    choice = ChooseGid(table, [&](uint32_t index) {
      return ReadGidNetdev(shared_->sysfs, sighting_.name, number, index);
    });
  }
  switch (CompareGid(port.snapshot().gid, table, choice)) {
    case GidRescan::kFailed:
      port.OnGidScanFailed(choice.Note(), Time());
      break;
    case GidRescan::kChanged:
      ReadDeviceIdentity();  // the port may have another netdev now
      [[fallthrough]];
    case GidRescan::kUnchanged:
      port.OnGid(choice.gid, choice.Note(), Time());
      break;
  }
}

void DeviceMonitor::Settle() {
  const Now now = Time();
  for (const auto& port : ports_) {
    if (port->settle_deadline() && *port->settle_deadline() <= now.steady) {
      port->Settle(now);
      dirty_ = true;
    }
  }
}

void DeviceMonitor::Tick() {
  const Now now = Time();
  const Duration elapsed = now.steady - last_tick_;
  last_tick_ = now.steady;
  next_tick_ += shared_->tick;
  if (next_tick_ <= now.steady) {
    next_tick_ = now.steady + shared_->tick;  // a call hung: no burst of late ticks
  }
  dirty_ = true;
  for (const auto& port : ports_) {
    port->OnTick(elapsed, now);
  }
  if (data_.status == DeviceStatus::kDenied) {
    TickFromSysfs();
  }
  if (!device_) {
    return;
  }
  bool all_eio = !ports_.empty();
  for (const auto& port : ports_) {
    all_eio = Query(*port, QuerySource::kTick) == EIO && all_eio;
  }
  ScanGids(true);
  LookAfterDataPath();
  eio_ticks_ = all_eio ? eio_ticks_ + 1 : 0;
  if (eio_ticks_ >= kEioTicks) {
    CloseDead("query_port answers EIO on every port");
  }
}

void DeviceMonitor::TickFromSysfs() {
  const BusyScope busy = Busy("sysfs_read");
  for (const auto& port : ports_) {
    const SysfsPort read = ReadPort(shared_->sysfs, sighting_.name, port->snapshot().number);
    PortObservation seen;
    if (!read.state) {
      seen.error = ENODATA;
    } else {
      seen.state = *read.state;
      seen.physical_state = read.physical_state;
      seen.link_layer = read.link_layer;
      seen.effective_speed_bps = read.speed_bps;
      seen.nominal_speed_bps = read.speed_bps;
      seen.speed_source = SpeedSource::kSysfs;
      seen.lid = read.lid;
      seen.sm_lid = read.sm_lid;
    }
    port->OnObservation(seen, QuerySource::kTick, Time());
  }
}

}  // namespace nicmon
