#include <algorithm>
#include <cerrno>
#include <utility>

#include "nicmon/base/log.h"
#include "nicmon/base/text.h"
#include "nicmon/device/device_context.h"
#include "nicmon/monitor/device_monitor.h"

// When a device is opened and closed: discovery, release, failures and their backoff.
namespace nicmon {
namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(1);
constexpr Duration kMaxBackoff = std::chrono::seconds(30);

/// What to do about a device node that is missing or closed to us; empty for any other failure.
std::string WhyDenied(const AcquireError& error, const DeviceSighting& sighting) {
  const bool no_node = error.step() == AcquireStep::kFindDevice && !sighting.listed;
  const bool refused =
      error.step() == AcquireStep::kOpen &&
      (error.error() == EPERM || error.error() == EACCES || error.error() == ENOENT);
  if (!no_node && !refused) {
    return "";
  }
  return "/dev/infiniband/" + sighting.uverbs +
         (no_node || error.error() == ENOENT
              ? " is missing: give the process the device node"
              : " cannot be opened: allow read and write on it (device cgroup, owner or mode)") +
         "; port states come from sysfs meanwhile";
}

}  // namespace

bool DeviceMonitor::released(WallTime now) const {
  return shared_->holds->snapshot()->FindRelease(context_.id, now) != nullptr;
}

void DeviceMonitor::ApplyDiscovery(const std::optional<DeviceSighting>& sighting) {
  dirty_ = true;
  if (!sighting) {
    present_ = false;
    if (data_.status != DeviceStatus::kReleased) {
      Close(DeviceStatus::kAbsent, PauseReason::kFatal,
            "the device is gone; it is opened again when it comes back");
    }
    return;
  }
  const bool new_device = !present_ || sighting->kernel_index != sighting_.kernel_index;
  const bool node_appeared = sighting->listed && !sighting_.listed;
  const bool renamed = sighting->name != sighting_.name;
  if (renamed) {
    log::Info("device was renamed", {{"device", sighting->name}, {"was", sighting_.name}});
    Record("rename", sighting_.name, sighting->name, "the device was renamed");
  }
  sighting_ = *sighting;
  present_ = true;
  context_.device = data_.name = sighting_.name;
  data_.kernel_index = sighting_.kernel_index;
  if (new_device || node_appeared) {
    if (data_.status != DeviceStatus::kReleased && new_device && device_) {
      Close(DeviceStatus::kOpening, PauseReason::kFatal, "the device was registered anew");
    }
    open_backoff_ = Duration(0);
    next_open_ = shared_->clock.steady();
  } else if (device_) {
    ReadDeviceIdentity();
  }
  if (renamed && sampler_) {
    StartSampling();  // its files have another path now
  }
}

void DeviceMonitor::ApplyRelease() {
  const bool is_released = released(Time().wall);
  if (is_released == (data_.status == DeviceStatus::kReleased)) {
    return;
  }
  if (is_released) {
    Close(DeviceStatus::kReleased, PauseReason::kReleased,
          "released for maintenance: nothing of it is held open");
    return;
  }
  log::Info("release is over", {{"device", data_.name}});
  dirty_ = true;
  if (!present_) {
    Close(DeviceStatus::kAbsent, PauseReason::kFatal,
          "the device is gone; it is opened again when it comes back");
    return;
  }
  SetStatus(DeviceStatus::kOpening, "being opened after a release");
  open_backoff_ = Duration(0);
  next_open_ = shared_->clock.steady();
}

void DeviceMonitor::OpenIfDue() {
  if (!device_ && present_ && data_.status != DeviceStatus::kReleased &&
      shared_->clock.steady() >= next_open_) {
    Open();
  }
}

AcquireOptions DeviceMonitor::HowToOpen() const {
  AcquireOptions options;
  options.name = sighting_.name;
  if (sighting_.kernel_index >= 0) {
    options.kernel_index = sighting_.kernel_index;
  }
  options.outside_speed.netdev = [this](uint32_t port) {
    return ReadNetdevSpeed(shared_->sysfs, sighting_.name, NetdevOf(port));
  };
  options.outside_speed.bond = [this](uint32_t port) {
    return ReadBondSpeed(shared_->sysfs, sighting_.name, NetdevOf(port));
  };
  return options;
}

void DeviceMonitor::Open() {
  dirty_ = true;
  ReadDeviceIdentity();
  try {
    const BusyScope busy = Busy("open_device");
    device_ = std::make_unique<DeviceContext>(shared_->verbs, epoll_, HowToOpen());
  } catch (const AcquireError& error) {
    const std::string denied = WhyDenied(error, sighting_);
    OpenFailed(!denied.empty(), denied.empty() ? std::string(error.what()) : denied);
    return;
  }
  Opened();
}

void DeviceMonitor::Opened() {
  ++data_.opens_ok;
  SetStatus(DeviceStatus::kOpen, "");
  open_backoff_ = Duration(0);
  eio_ticks_ = 0;
  const DeviceAttributes& attributes = device_->attributes();
  NoteFirmware();
  std::vector<uint32_t> numbers(attributes.port_count);
  for (uint32_t i = 0; i < attributes.port_count; ++i) {
    numbers[i] = i + 1;
  }
  SetPorts(numbers);
  log::Info("device is open", {{"device", data_.name},
                               {"ports", std::to_string(attributes.port_count)},
                               {"kernel_index", std::to_string(data_.kernel_index)}});
  prober_.Opened(data_.name, data_.kernel_index, attributes.port_count);
  LookAfterDataPath();
  // Subscribed by now: what happens from here on comes as an event, what was before is queried.
  more_events_ = false;
  for (const auto& port : ports_) {
    port->OnOpened(Time());
    Query(*port, QuerySource::kTick);
  }
  ScanGids(true);
  StartSampling();
}

std::string DeviceMonitor::NetdevOf(uint32_t port) const {
  const auto it = data_.identity.netdev.find(port);
  return it != data_.identity.netdev.end() ? it->second : "";
}

void DeviceMonitor::LookAfterDataPath() {
  {
    const BusyScope busy = Busy("open_device");
    prober_.Tick(shared_->clock.steady());
  }
  if (DataPathStatus status = prober_.status(); status != data_.data_path) {
    data_.data_path = std::move(status);
    dirty_ = true;
  }
}

void DeviceMonitor::OpenFailed(bool denied, const std::string& why) {
  ++data_.opens_failed;
  const bool new_reason = data_.detail != why;
  const bool was_denied = data_.status == DeviceStatus::kDenied;
  if (was_denied && !denied) {
    Close(DeviceStatus::kFatal, PauseReason::kFatal, why);  // sysfs is no longer what is shown
  } else if (denied) {
    SetStatus(DeviceStatus::kDenied, why);
  } else {
    SetStatus(data_.status == DeviceStatus::kFatal ? DeviceStatus::kFatal : DeviceStatus::kOpening,
              why);
  }
  if (!denied) {
    // After a release it is no maintenance any more that keeps these ports down.
    for (const auto& port : ports_) {
      if (port->snapshot().pauses.Has(PauseReason::kReleased)) {
        port->OnClosed(PauseReason::kFatal, why, Time());
      }
    }
  }
  open_backoff_ = std::clamp(open_backoff_ * 2, kFirstBackoff, kMaxBackoff);
  next_open_ = shared_->clock.steady() + open_backoff_;
  if (new_reason) {
    log::Warning("device cannot be opened", {{"device", data_.name}, {"reason", why}});
  }
  if (denied && !was_denied) {
    SetPorts(ReadPortNumbers(shared_->sysfs, sighting_.name));
    for (const auto& port : ports_) {
      port->OnOpened(Time());
    }
    TickFromSysfs();
    StartSampling();
  }
}

void DeviceMonitor::Close(DeviceStatus status, PauseReason reason, const std::string& detail) {
  dirty_ = true;
  const bool was_open = device_ != nullptr;
  StopSampling();
  if (was_open) {
    const BusyScope busy = Busy("close_device");
    device_.reset();
    prober_.Closed();
    data_.data_path = prober_.status();
  }
  more_events_ = false;
  if (data_.status != status || was_open) {
    log::Write(status == DeviceStatus::kReleased ? log::Level::kInfo : log::Level::kWarning,
               "device is closed",
               {{"device", data_.name},
                {"status", std::string(DeviceStatusName(status))},
                {"reason", detail}});
  }
  SetStatus(status, detail);
  SetPorts(KeptPorts());
  for (const auto& port : ports_) {
    port->OnClosed(reason, detail, Time());
  }
  next_open_ = shared_->clock.steady() + open_backoff_;
}

/// The one place where the status changes, so that the history misses none: several changes in one
/// turn are published as one.
void DeviceMonitor::SetStatus(DeviceStatus status, const std::string& detail) {
  if (data_.status != status) {
    Record("status", std::string(DeviceStatusName(data_.status)),
           std::string(DeviceStatusName(status)), detail);
  }
  data_.status = status;
  data_.detail = detail;
}

void DeviceMonitor::Record(std::string cause, std::string before, std::string after,
                           std::string note) {
  if (!context_.record) {
    return;
  }
  Transition event;
  event.time = shared_->clock.wall();
  event.type = TransitionType::kDevice;
  event.device = data_.name;
  event.cause = std::move(cause);
  event.before = std::move(before);
  event.after = std::move(after);
  event.note = std::move(note);
  context_.record(std::move(event));
}

/// Ports that are remembered from before this process: those of a device that has not been open
/// since its start (a release outlives it) are to be missed, and can be held, all the same.
std::vector<uint32_t> DeviceMonitor::KeptPorts() const {
  std::vector<uint32_t> numbers;
  const auto holds = shared_->holds->snapshot();
  if (const KeptDevice* kept = holds->Find(data_.id); kept != nullptr) {
    for (const auto& [number, port] : kept->ports) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

void DeviceMonitor::SetPorts(const std::vector<uint32_t>& numbers) {
  for (const uint32_t number : numbers) {
    const auto at =
        std::lower_bound(ports_.begin(), ports_.end(), number,
                         [](const auto& port, uint32_t n) { return port->snapshot().number < n; });
    if (at == ports_.end() || (*at)->snapshot().number != number) {
      ports_.insert(at, std::make_unique<PortTracker>(number, context_));
    }
  }
}

void DeviceMonitor::ReadDeviceIdentity() {
  const BusyScope busy = Busy("sysfs_read");
  Identity identity = ReadIdentity(shared_->sysfs, sighting_.name);
  if (device_ && identity.netdev != data_.identity.netdev) {
    device_->speed_policy().Refresh();  // speeds were read from other netdevs, or from none
  }
  data_.identity = std::move(identity);
  NoteFirmware();
  dirty_ = true;
}

void DeviceMonitor::NoteFirmware() {
  if (device_ && data_.identity.firmware_version.empty()) {
    data_.identity.firmware_version = CleanLine(device_->attributes().firmware_version);
  }
}

PortTracker* DeviceMonitor::FindPort(int number) {
  for (const auto& port : ports_) {
    if (static_cast<int64_t>(port->snapshot().number) == number) {
      return port.get();
    }
  }
  return nullptr;
}

void DeviceMonitor::OnDeviceFatal() {
  log::Error("device reports DEVICE_FATAL", {{"device", data_.name}});
  // Comes twice as a rule: from the driver, then with the disassociation.
  CloseDead("DEVICE_FATAL: the device is dead until its driver has it back");
}

void DeviceMonitor::CloseDead(const std::string& why) {
  // The re-open is tried after a first backoff step, or at once when discovery sees a new index.
  open_backoff_ = std::max(open_backoff_, kFirstBackoff);
  Close(DeviceStatus::kFatal, PauseReason::kFatal, why);
}

}  // namespace nicmon
