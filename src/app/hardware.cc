#include "nicmon/app/hardware.h"

#include <optional>
#include <regex>
#include <stdexcept>

#include "nicmon/base/log.h"

namespace nicmon {
namespace {

/// Simulated ports beside real ones would be taken for real by whoever reads the metrics.
void RefuseBesideRealDevices(const std::string& host_sysfs) {
  std::string names;
  for (const std::string& name : RealSysfs(host_sysfs).list("class/infiniband")) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) {
    throw std::runtime_error("this host has real RDMA devices (" + names +
                             "), --simulate needs --simulate-force here");
  }
}

}  // namespace

Hardware OpenHardware(const Config& config, const std::string& host_sysfs) {
  if (!config.simulate) {
    std::string why_absent;
    auto verbs = RealVerbs(&why_absent);
    if (!why_absent.empty()) {
      log::Warning("libibverbs cannot be used, no device will be found", {{"reason", why_absent}});
    }
    return {std::move(verbs), RealSysfs(config.sysfs_root), nullptr};
  }
  if (!config.simulate_force) {
    RefuseBesideRealDevices(host_sysfs);
  }
  std::string error;
  const auto spec = ParseSimulationSpec(*config.simulate, &error);
  if (!spec) {
    throw std::runtime_error(error);
  }
  auto simulated = std::make_shared<SimulatedRnic>(*spec);
  SysfsFiles sysfs = config.sysfs_root_given ? RealSysfs(config.sysfs_root) : simulated->sysfs();
  return {simulated->verbs(), std::move(sysfs), simulated};
}

std::function<bool(const std::string& name)> DeviceFilter(const Config& config) {
  const auto compile = [](const std::string& pattern) -> std::optional<std::regex> {
    return pattern.empty() ? std::nullopt : std::optional(std::regex(pattern));
  };
  return [include = compile(config.device_include),
          exclude = compile(config.device_exclude)](const std::string& name) {
    return (!include || std::regex_match(name, *include)) &&
           !(exclude && std::regex_match(name, *exclude));
  };
}

}  // namespace nicmon
