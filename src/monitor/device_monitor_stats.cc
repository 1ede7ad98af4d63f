#include <cmath>
#include <memory>
#include <utility>

#include "nicmon/base/log.h"
#include "nicmon/device/device_context.h"
#include "nicmon/monitor/device_monitor.h"

// Sampling of hardware counters and link attributes, in slices between the turns of the loop.
namespace nicmon {
namespace {

/// Files are read until that much time has gone by, and then the loop looks for events. A file
/// takes far less than a turn of the loop as long as the driver answers from memory, so many go
/// into a slice; one that takes longer is the last of its slice. So an event waits for one file, or
/// for this, which is less than waking the thread for it takes.
constexpr Duration kSlice = std::chrono::microseconds(20);

/// Where in the interval a device has its rounds: successive devices are far apart, however many
/// there are.
double Phase(DeviceId id) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  return std::fmod(id * kGoldenRatio, 1.0);
}

}  // namespace

void DeviceMonitor::StartSampling() {
  const BusyScope busy = Busy("sysfs_read");
  StatsSamplerOptions options;
  options.device = sighting_.name;
  for (const auto& port : ports_) {
    options.ports.push_back(port->snapshot().number);
  }
  options.tick = shared_->tick;
  options.interval = shared_->counters_interval;
  options.phase = Phase(context_.id);
  sampler_ = std::make_unique<StatsSampler>(shared_->sysfs, shared_->clock, std::move(options),
                                            stats_history_, context_.log_limit);
  links_begun_ = false;
  links_.Forget();
  sampler_->AddStep([this] { return ReadOneLinkAttribute(); });
  if (sampler_->any()) {
    stats_history_.told_of_none = false;
  } else if (device_ && !std::exchange(stats_history_.told_of_none, true)) {
    log::Warning("device shows no hardware counters",
                 {{"device", data_.name},
                  {"remedy",
                   "in a container, use the host's network namespace (hostNetwork: true) "
                   "or mount the host's /sys and name it with --sysfs-root; some drivers "
                   "(siw, for one) have no counters anywhere"}});
  }
}

void DeviceMonitor::StopSampling() {
  sampler_.reset();
  data_.stats.reset();  // those of the ports go with OnClosed
  data_.pcie = {};
}

bool DeviceMonitor::ReadOneLinkAttribute() {
  if (!links_begun_) {
    links_.Begin(sighting_.name, data_.identity.netdev);
  }
  links_.Step();
  links_begun_ = !links_.done();
  return links_begun_;
}

bool DeviceMonitor::ReadTraffic() {
  if (!sampler_) {
    traffic_begun_ = false;
    return true;
  }
  if (!std::exchange(traffic_begun_, true)) {
    sampler_->OnTick();
  }
  SampleFiles();
  traffic_begun_ = sampler_->traffic_due();
  return !traffic_begun_;
}

void DeviceMonitor::SampleFiles() {
  SteadyTime now = shared_->clock.steady();
  if (!SamplingDue(now)) {
    return;
  }
  const SteadyTime end = now + kSlice;
  bool complete = false;
  {
    const BusyScope busy(heartbeat_, "sysfs_read", now);
    do {
      complete = sampler_->Step(now);
      now = shared_->clock.steady();
    } while (!complete && now < end && SamplingDue(now));
  }
  if (!complete) {
    return;
  }
  data_.stats = sampler_->sample(0);
  data_.pcie = links_.pcie();
  data_.sysfs_read_errors = stats_history_.read_errors;
  for (const auto& port : ports_) {
    const uint32_t number = port->snapshot().number;
    port->OnStats(sampler_->sample(number), links_.netdev(number));
  }
  dirty_ = true;
}

}  // namespace nicmon
