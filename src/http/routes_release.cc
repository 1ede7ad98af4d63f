#include <algorithm>
#include <thread>

#include "http/json.h"
#include "http/lookup.h"
#include "http/records.h"
#include "http/routes.h"
#include "http/times.h"

namespace nicmon::http {
namespace {

constexpr Duration kDefaultRelease = std::chrono::hours(1);
constexpr auto kStatusPoll = std::chrono::milliseconds(5);

/// Devices of a release or reopen that have not got there yet.
struct Waiting {
  DeviceId id = 0;
  std::string name;
  std::string status = "pending";
  std::shared_ptr<Pending> pending;
};

bool Arrived(const DeviceView& device, bool released) {
  if (device.stalled) {
    return false;
  }
  const DeviceStatus status = device.data->status;
  if (released) {
    // What is absent holds no handle of ours, and the release keeps it from being opened.
    return status == DeviceStatus::kReleased || status == DeviceStatus::kAbsent;
  }
  return status != DeviceStatus::kReleased && status != DeviceStatus::kOpening;
}

/// Looks at all of them until each has arrived or cannot soon, or the time is up: one deadline for
/// all, so a device that hangs costs the others nothing.
void WaitFor(const Call& call, std::vector<Waiting>* devices, bool released) {
  const auto deadline = std::chrono::steady_clock::now() + call.service.options.command_timeout;
  for (;;) {
    bool waiting = false;
    const NodeView view = call.service.backend.view();
    for (Waiting& waits : *devices) {
      const auto found =
          std::find_if(view.devices.begin(), view.devices.end(),
                       [&](const DeviceView& device) { return device.data->id == waits.id; });
      if (found == view.devices.end() || waits.status != "pending") {
        continue;
      }
      if (Arrived(*found, released)) {
        waits.status = released ? "released" : found->status_name();
      } else if (!found->stalled) {
        waiting = true;
      }
    }
    if (!waiting || call.stopping() || std::chrono::steady_clock::now() >= deadline) {
      return;
    }
    std::this_thread::sleep_for(kStatusPoll);
  }
}

Expected<Duration> ReleaseTime(const Call& call) {
  const std::string* ttl = call.Find("ttl");
  if (ttl == nullptr) {
    return kDefaultRelease;
  }
  const auto duration = ParseTtl(*ttl);
  if (!duration) {
    return ErrorReply(400, "invalid_parameter", "ttl is not a duration",
                      "like 30s, 10m, 2h or 1d; 1h when it is left out");
  }
  return *duration;
}

std::vector<DeviceId> IdsOf(const std::vector<Waiting>& devices) {
  std::vector<DeviceId> ids;
  for (const Waiting& device : devices) {
    ids.push_back(device.id);
  }
  return ids;
}

/// Releases the devices and waits. The end of the release, or why there is none.
Expected<WallTime> Release(Call& call, std::vector<Waiting>* devices) {
  const std::string* reason = call.Find("reason");
  if (reason == nullptr || reason->empty()) {
    return ErrorReply(400, "missing_parameter", "reason is missing",
                      "say why: -d reason='driver update'");
  }
  auto ttl = ReleaseTime(call);
  if (!ttl) {
    return ttl.error;
  }
  const WallTime now = call.now();
  const nicmon::Release release{*reason, call.By(), now, now + *ttl};
  call.audit.until = Rfc3339(release.until);
  std::string why;
  const auto result = call.service.backend.holds->SetRelease(IdsOf(*devices), release, &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  for (Waiting& device : *devices) {
    TellRelease(call, device.name, true);
    device.pending = call.service.backend.submit(device.id, CommandKind::kPoke, 0);
  }
  WaitFor(call, devices, true);
  return release.until;
}

/// Whether anything was released.
Expected<bool> Reopen(Call& call, std::vector<Waiting>* devices) {
  std::string why;
  const auto before = call.service.backend.holds->snapshot();
  const auto result = call.service.backend.holds->ClearRelease(IdsOf(*devices), &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  for (Waiting& device : *devices) {
    if (before->FindRelease(device.id, call.now()) != nullptr) {
      TellRelease(call, device.name, false);
    }
    device.pending = call.service.backend.submit(device.id, CommandKind::kPoke, 0);
  }
  WaitFor(call, devices, false);
  return result == Holds::Result::kDone;
}

bool AnyPending(const std::vector<Waiting>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](const Waiting& device) { return device.status == "pending"; });
}

Expected<std::vector<Waiting>> OneDevice(Call& call) {
  const NodeView view = call.service.backend.view();
  auto device = FindDevice(call, view);
  if (!device) {
    return device.error;
  }
  const DeviceSnapshot& data = *(*device)->data;
  return std::vector<Waiting>{{data.id, data.name, "pending", nullptr}};
}

std::vector<Waiting> AllDevices(Call& call) {
  std::vector<Waiting> devices;
  for (const DeviceView& device : call.service.backend.view().devices) {
    devices.push_back({device.data->id, device.data->name, "pending", nullptr});
  }
  call.audit.device = "all";
  return devices;
}

Reply AllReply(const std::vector<Waiting>& devices, std::string_view done) {
  std::vector<std::pair<std::string, std::string>> statuses;
  for (const Waiting& device : devices) {
    statuses.emplace_back(device.name, device.status);
  }
  const bool pending = AnyPending(devices);
  return JsonReply(pending ? 202 : 200, json::DeviceStatuses(pending ? "pending" : done, statuses));
}

}  // namespace

Reply PostDeviceRelease(Call& call) {
  auto devices = OneDevice(call);
  if (!devices) {
    return devices.error;
  }
  auto until = Release(call, &*devices);
  if (!until) {
    return until.error;
  }
  const Waiting& device = devices->front();
  return JsonReply(
      device.status == "pending" ? 202 : 200,
      json::Object(
          {{"device", device.name}, {"status", device.status}, {"until", Rfc3339(*until)}}));
}

Reply PostDeviceReopen(Call& call) {
  auto devices = OneDevice(call);
  if (!devices) {
    return devices.error;
  }
  auto changed = Reopen(call, &*devices);
  if (!changed) {
    return changed.error;
  }
  const Waiting& device = devices->front();
  return JsonReply(
      device.status == "pending" ? 202 : 200,
      json::Object({{"device", device.name}, {"status", device.status}, {"changed", *changed}}));
}

Reply PostReleaseAll(Call& call) {
  auto devices = AllDevices(call);
  auto until = Release(call, &devices);
  return until ? AllReply(devices, "released") : until.error;
}

Reply PostReopenAll(Call& call) {
  auto devices = AllDevices(call);
  auto changed = Reopen(call, &devices);
  return changed ? AllReply(devices, "reopened") : changed.error;
}

}  // namespace nicmon::http
