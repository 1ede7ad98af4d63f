#include <algorithm>
#include <set>
#include <thread>

#include "http/json.h"
#include "http/lookup.h"
#include "http/records.h"
#include "http/refusals.h"
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
  std::optional<nicmon::Release> before;  // what was in force until now
};

/// "released" means that no handle of ours is left, so it waits for a probe that still runs too.
bool Arrived(const Backend& backend, const DeviceView& device, bool released) {
  if (device.stalled) {
    return false;
  }
  const DeviceStatus status = device.data->status;
  if (released) {
    // Of what is absent the monitor has no handle, and the release keeps it from being opened.
    const bool closed = status == DeviceStatus::kReleased || status == DeviceStatus::kAbsent;
    return closed && !backend.probing(device.data->id);
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
      if (Arrived(call.service.backend, *found, released)) {
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
    return InvalidParameter("ttl is not a duration",
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

/// Hands each device what was in force until now, and notes whose that was.
void NoteBefore(Call& call, const Releases& before, std::vector<Waiting>* devices) {
  std::set<std::string> holders;
  for (Waiting& device : *devices) {
    const auto release = before.find(device.id);
    if (release == before.end()) {
      continue;
    }
    device.before = release->second;
    if (holders.insert(device.before->by).second) {
      call.audit.held_by += (call.audit.held_by.empty() ? "" : ", ") + device.before->by;
    }
  }
}

/// What gave way to a release, as far as a record has room for it.
std::string ReplacedInWords(const std::vector<Waiting>& devices) {
  constexpr size_t kRoom = 4096;
  std::string words;
  size_t left_out = 0;
  for (const Waiting& device : devices) {
    const std::string more = device.before ? InWords(*device.before, device.name) : "";
    if (words.size() + more.size() > kRoom) {
      ++left_out;
    } else if (!more.empty()) {
      words += (words.empty() ? "" : "; ") + more;
    }
  }
  return left_out == 0 ? words : words + "; and " + std::to_string(left_out) + " more";
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
  Releases before;
  const auto result =
      call.service.backend.holds->SetRelease(IdsOf(*devices), release, &why, &before);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  NoteBefore(call, before, devices);
  call.audit.replaced = ReplacedInWords(*devices);
  for (Waiting& device : *devices) {
    TellRelease(call, device.name, true, device.before ? &*device.before : nullptr);
    device.pending = call.service.backend.submit(device.id, CommandKind::kPoke, 0);
  }
  WaitFor(call, devices, true);
  return release.until;
}

/// Whether anything was released.
Expected<bool> Reopen(Call& call, std::vector<Waiting>* devices) {
  std::string why;
  Releases before;
  const auto result = call.service.backend.holds->ClearRelease(IdsOf(*devices), &why, &before);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  NoteBefore(call, before, devices);
  for (Waiting& device : *devices) {
    if (device.before) {
      TellRelease(call, device.name, false, &*device.before);
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
  return std::vector<Waiting>{{data.id, data.name}};
}

std::vector<Waiting> AllDevices(Call& call) {
  std::vector<Waiting> devices;
  for (const DeviceView& device : call.service.backend.view().devices) {
    devices.push_back({device.data->id, device.data->name});
  }
  return devices;
}

std::vector<json::DeviceStatus> StatusesOf(const std::vector<Waiting>& devices) {
  std::vector<json::DeviceStatus> statuses;
  for (const Waiting& device : devices) {
    statuses.push_back({device.name, device.status, device.before ? &*device.before : nullptr});
  }
  return statuses;
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
  return JsonReply(AnyPending(*devices) ? 202 : 200,
                   json::Released(StatusesOf(*devices).front(), *until));
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
  if (!until) {
    return until.error;
  }
  const bool pending = AnyPending(devices);
  return JsonReply(pending ? 202 : 200, json::ReleasedAll(pending ? "pending" : "released",
                                                          StatusesOf(devices), *until));
}

Reply PostReopenAll(Call& call) {
  auto devices = AllDevices(call);
  auto changed = Reopen(call, &devices);
  if (!changed) {
    return changed.error;
  }
  const bool pending = AnyPending(devices);
  return JsonReply(pending ? 202 : 200,
                   json::ReopenedAll(pending ? "pending" : "reopened", StatusesOf(devices)));
}

}  // namespace nicmon::http
