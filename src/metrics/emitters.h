#pragma once

#include "samples.h"

namespace nicmon::emit {

// Rows of the table that have more to them than one value. One function per metric.

void HttpRequests(Samples& samples, const MetricsInput& input);
void HttpRejected(Samples& samples, const MetricsInput& input);
void AdminActions(Samples& samples, const MetricsInput& input);

void DeviceInfo(Samples& samples, const DeviceView& device);
void DeviceNotOpen(Samples& samples, const DeviceView& device);
void DeviceOpens(Samples& samples, const DeviceView& device);
void DeviceEvents(Samples& samples, const DeviceView& device);
void DeviceDriverStats(Samples& samples, const DeviceView& device);
void DeviceDriverStatsCut(Samples& samples, const DeviceView& device);

void PortInfo(Samples& samples, const PortView& port);
void PortStateSet(Samples& samples, const PortView& port);
void PortPhysicalStateSet(Samples& samples, const PortView& port);
void PortSpeedSourceSet(Samples& samples, const PortView& port);
void PortPaused(Samples& samples, const PortView& port);
void PortPauses(Samples& samples, const PortView& port);
void PortRecoveries(Samples& samples, const PortView& port);
void PortTransitions(Samples& samples, const PortView& port);
void PortMismatches(Samples& samples, const PortView& port);
void PortQueries(Samples& samples, const PortView& port);
void PortEvents(Samples& samples, const PortView& port);
void PortGidInfo(Samples& samples, const PortView& port);
void PortStatsAvailable(Samples& samples, const PortView& port);
void PortSaturatedStats(Samples& samples, const PortView& port);
void PortDriverStats(Samples& samples, const PortView& port);
void PortDriverStatsCut(Samples& samples, const PortView& port);
/// `metric`: as CounterMetricOfRow() numbers them.
void PortCounter(Samples& samples, const PortView& port, uint16_t metric);

/// Whether nicmon keeps its hands off the device: what the hardware would say is not known then.
inline bool Released(const PortView& port) {
  return port.device->status == DeviceStatus::kReleased;
}

/// Whether the port's speeds mean anything: those of a port that is not ACTIVE are leftovers.
inline bool HasSpeed(const PortView& port) {
  return port.up && !Released(port);
}

template <typename T>
void AddUnlessReleased(Samples& samples, const PortView& port, const std::optional<T>& value) {
  if (!Released(port)) {
    samples.Add(value);
  }
}

/// Bits to bytes per second, exact in a double whatever the remainder. Nothing unless `shown`.
inline std::optional<double> BytesPerSecond(bool shown, const std::optional<uint64_t>& bps) {
  return shown && bps ? std::optional(static_cast<double>(*bps) / 8) : std::nullopt;
}

inline double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

inline std::optional<double> Age(const std::optional<Duration>& age) {
  return age ? std::optional(Seconds(*age)) : std::nullopt;
}

/// Seconds since 1970, to the millisecond as in JSON: more digits would be noise.
inline double Seconds(WallTime time) {
  const auto milliseconds =
      std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return static_cast<double>(milliseconds) / 1000;
}
inline std::optional<double> Timestamp(const std::optional<WallTime>& time) {
  return time ? std::optional(Seconds(*time)) : std::nullopt;
}

}  // namespace nicmon::emit
