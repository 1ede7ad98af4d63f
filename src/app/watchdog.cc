#include "nicmon/app/watchdog.h"

#include <chrono>
#include <string>

#include "nicmon/base/log.h"

namespace nicmon {

void Watchdog::Turn(const NodeView& view) {
  EndHolds();
  for (const DeviceView& device : view.devices) {
    LogStalled(device);
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

void Watchdog::EndHolds() {
  for (const Hold& hold : holds_->Expire()) {
    log::Info("hold has run out", {{"device", hold.device},
                                   {"port", std::to_string(hold.port.second)},
                                   {"id", hold.id},
                                   {"reason", hold.reason},
                                   {"by", hold.by}});
    poke_(hold.port.first);
  }
}

void Watchdog::LogStalled(const DeviceView& device) {
  const bool was_stalled = stalled_.contains(device.data->id);
  if (device.stalled && !was_stalled) {
    using Seconds = std::chrono::duration<double>;
    const auto tenths = static_cast<int64_t>(Seconds(device.stalled_for).count() * 10);
    log::Warning("device does not answer, its ports do not serve",
                 {{"device", device.data->name},
                  {"call", device.stalled_call},
                  {"seconds", std::to_string(tenths / 10) + "." + std::to_string(tenths % 10)}});
    stalled_.insert(device.data->id);
  } else if (!device.stalled && was_stalled) {
    log::Info("device answers again", {{"device", device.data->name}});
    stalled_.erase(device.data->id);
  }
}

}  // namespace nicmon
