#include "nicmon/app/watchdog.h"

#include <chrono>
#include <string>

#include "nicmon/base/log.h"

namespace nicmon {
namespace {

/// A record on a hold of a device that goes by `device` now.
Transition AboutHold(const Hold& hold, const std::string& device, WallTime now) {
  Transition event;
  event.time = now;
  event.type = TransitionType::kHold;
  event.device = device;
  event.port = hold.port.second;
  event.before = "held by " + hold.by;
  event.note = hold.reason;
  event.hold = hold.id;
  event.until = hold.until ? Rfc3339(*hold.until) : "";
  return event;
}

}  // namespace

void Watchdog::Turn(const NodeView& view) {
  EndHolds(view.now);
  if (view.holds != nullptr) {
    RecordOrphans(*view.holds, view.now);
  }
  for (const DeviceView& device : view.devices) {
    LogStalled(device, view.now);
  }
  if (view.discovery_stalled != discovery_stalled_) {
    discovery_stalled_ = view.discovery_stalled;
    if (discovery_stalled_) {
      log::Warning("the device list does not answer, new devices are not seen");
    } else {
      log::Info("the device list answers again");
    }
  }
}

void Watchdog::EndHolds(WallTime now) {
  for (const Hold& hold : holds_->Expire()) {
    log::Info("hold has run out", {{"device", hold.device},
                                   {"port", std::to_string(hold.port.second)},
                                   {"id", hold.id},
                                   {"reason", hold.reason},
                                   {"by", hold.by}});
    Transition event = AboutHold(hold, hold.device, now);
    event.cause = "expired";
    Record(std::move(event));
    poke_(hold.port.first);
  }
  for (const EndedRelease& ended : holds_->TakeEndedReleases()) {
    log::Info("release has ended", {{"device", ended.device},
                                    {"reason", ended.release.reason},
                                    {"by", ended.release.by},
                                    {"cause", ended.rebooted ? "reboot" : "expired"}});
    Transition event;
    event.time = now;
    event.type = TransitionType::kHold;
    event.device = ended.device;
    event.cause = ended.rebooted ? "reboot" : "expired";
    event.before = "released by " + ended.release.by;
    event.note = ended.release.reason;
    event.until = Rfc3339(ended.release.until);
    Record(std::move(event));
  }
}

void Watchdog::RecordOrphans(const HoldsSnapshot& holds, WallTime now) {
  started_ = started_.value_or(now);
  std::set<std::string> orphaned;
  for (const auto& [hold, kept] : holds.InForce(now)) {
    const bool was_orphaned = orphaned_.contains(hold->id);
    if (!kept->orphaned_since && !was_orphaned) {
      continue;
    }
    Transition event = AboutHold(*hold, kept->name, now);
    if (kept->orphaned_since) {
      orphaned.insert(hold->id);
      event.cause = "orphaned";
      event.after = "orphaned: another device is in the place of its own";
      // One that was orphaned before the start has its record already.
      if (was_orphaned || *kept->orphaned_since < *started_) {
        continue;
      }
    } else {
      event.cause = "device_back";
      event.before = "orphaned";
      event.after = "held by " + hold->by;
    }
    Record(std::move(event));
  }
  orphaned_ = std::move(orphaned);
}

void Watchdog::RecordStalled(const DeviceView& device, WallTime now, bool stalled) const {
  const std::string status(DeviceStatusName(device.data->status));
  Transition event;
  event.time = now;
  event.type = TransitionType::kDevice;
  event.device = device.data->name;
  event.cause = "watchdog";
  event.before = stalled ? status : "stalled";
  event.after = stalled ? "stalled" : status;
  event.note = stalled ? "does not answer: stuck in " + device.stalled_call : "answers again";
  Record(std::move(event));
}

void Watchdog::Record(Transition event) const {
  if (record_) {
    record_(std::move(event));
  }
}

void Watchdog::LogStalled(const DeviceView& device, WallTime now) {
  const bool was_stalled = stalled_.contains(device.data->id);
  if (device.stalled && !was_stalled) {
    using Seconds = std::chrono::duration<double>;
    const auto tenths = static_cast<int64_t>(Seconds(device.stalled_for).count() * 10);
    log::Warning("device does not answer, its ports do not serve",
                 {{"device", device.data->name},
                  {"call", device.stalled_call},
                  {"seconds", std::to_string(tenths / 10) + "." + std::to_string(tenths % 10)}});
    stalled_.insert(device.data->id);
    RecordStalled(device, now, true);
  } else if (!device.stalled && was_stalled) {
    log::Info("device answers again", {{"device", device.data->name}});
    stalled_.erase(device.data->id);
    RecordStalled(device, now, false);
  }
}

}  // namespace nicmon
