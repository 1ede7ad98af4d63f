#include "emitters.h"
#include "nicmon/sysfs/stats.h"

namespace nicmon::emit {
namespace {

/// What has no row in CounterTable(); of a device everything, for a row is a port's.
void DriverStats(Samples& samples, const std::optional<StatsSample>& stats, bool of_port) {
  if (!stats) {
    return;
  }
  const auto& files = stats->layout().files;
  for (size_t i = 0; i < files.size(); ++i) {
    if (of_port && files[i].row != nullptr) {
      continue;
    }
    if (const auto value = stats->value(i)) {
      samples.Add("stat", files[i].stat, static_cast<double>(*value));
    }
  }
}

}  // namespace

void DeviceDriverStats(Samples& samples, const DeviceView& device) {
  DriverStats(samples, device.data->stats, false);
}

void DeviceDriverStatsCut(Samples& samples, const DeviceView& device) {
  if (const auto& stats = device.data->stats) {
    samples.Add(stats->layout().cut);
  }
}

void PortStatsAvailable(Samples& samples, const PortView& port) {
  if (const auto& stats = port.data->stats) {
    samples.Add("family", "counters", stats->layout().counters);
    samples.Add("family", "hw_counters", stats->layout().hw_counters);
  }
}

void PortSaturatedStats(Samples& samples, const PortView& port) {
  if (const auto& stats = port.data->stats) {
    samples.Add(stats->saturated);
  }
}

void PortDriverStats(Samples& samples, const PortView& port) {
  DriverStats(samples, port.data->stats, true);
}

void PortDriverStatsCut(Samples& samples, const PortView& port) {
  if (const auto& stats = port.data->stats) {
    samples.Add(stats->layout().cut);
  }
}

void PortCounter(Samples& samples, const PortView& port, uint16_t metric) {
  const auto& stats = port.data->stats;
  if (!stats) {
    return;
  }
  const int file = stats->layout().of_metric[metric];
  if (file < 0) {
    return;
  }
  const auto at = static_cast<size_t>(file);
  if (const auto value = stats->value(at)) {
    // Scaled as a double: words of four bytes may be worth more than 64 bits can hold.
    samples.Add(static_cast<double>(*value) * stats->layout().files[at].row->traits.scale);
  }
}

}  // namespace nicmon::emit
