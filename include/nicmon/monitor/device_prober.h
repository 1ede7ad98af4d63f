#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nicmon/base/clock.h"
#include "nicmon/monitor/probe.h"
#include "nicmon/sysfs/files.h"

namespace nicmon {

struct VerbsApi;

/// Probes the data path of one device, and keeps one for them with DataPathMode::kAlways.
///
/// A probe runs on a thread of its own, with a context of its own: one that hangs holds up neither
/// the device's monitor nor other devices, is the last of its device until it ends, and gives back
/// what it holds when it does. Nothing of a closed device is opened.
class DeviceProber {
 public:
  DeviceProber(std::shared_ptr<const VerbsApi> verbs, SysfsFiles sysfs, DataPathMode mode);
  ~DeviceProber();

  // The device's thread.
  /// Probes may run from here on.
  void Opened(const std::string& device, int kernel_index, uint32_t ports);
  /// None may any more; gives back what is kept. What a probe holds follows when it ends.
  void Closed();
  /// With kAlways: has the data path that is kept built, or built anew when it broke. Calls verbs.
  void Tick(SteadyTime now);

  // Any thread.
  DataPathStatus status() const;
  /// Waits for at most `patience`.
  ProbeOutcome Probe(uint32_t port, Duration patience);
  /// Whether a probe runs, and with it holds handles of the device.
  bool probing() const;
  /// Ends the waits; later ones end at once.
  void Stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the probe's thread
};

}  // namespace nicmon
