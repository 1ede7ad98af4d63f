#include <algorithm>
#include <thread>

#include "http/json.h"
#include "http/lookup.h"
#include "http/routes.h"
#include "http/times.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

constexpr Duration kDefaultRelease = std::chrono::hours(1);
constexpr auto kStatusPoll = std::chrono::milliseconds(5);

Reply Unavailable(std::string_view code, std::string_view message, std::string_view hint) {
  Reply reply = ErrorReply(503, code, message, hint);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Reply NotOpen(const DeviceView& device) {
  const std::string& detail = device.data->detail;
  return ErrorReply(
      409, "device_not_open",
      "the device is " + std::string(device.status_name()) + (detail.empty() ? "" : ": " + detail),
      "there is nothing to ask; GET /api/v1/devices says more");
}

/// Queues a requery and waits for it. The result, or the reply that says why there is none.
Expected<CommandResult> Requery(const Call& call, const DeviceView& device, uint32_t port) {
  const auto pending = call.service.backend.submit(device.data->id, CommandKind::kRequery, port);
  if (pending == nullptr) {
    return NotOpen(device);
  }
  CommandResult result;
  switch (pending->Wait(call.service.options.command_timeout, &result)) {
    case Pending::State::kAbandoned:
    case Pending::State::kQueued:
      return ErrorReply(504, "not_started", "the device's thread did not get to it in time",
                        "it will never run; the device hangs in a call, see /api/v1/devices");
    case Pending::State::kRunning:
      return ErrorReply(504, "in_progress", "the hardware has not answered yet",
                        "the query still runs, and what it finds shows in /api/v1/ports");
    case Pending::State::kDone:
      break;
  }
  switch (result.code) {
    case CommandResult::Code::kNotOpen:
      return NotOpen(device);
    case CommandResult::Code::kUnknownPort:
      return ErrorReply(404, "unknown_port", "the device has no such port", "see /api/v1/ports");
    case CommandResult::Code::kStopping:
      return Unavailable("stopping", "nicmon is stopping", "try again when it runs");
    case CommandResult::Code::kQueueFull:
      return Unavailable("queue_full", "too many commands wait for this device",
                         "try again in a second");
    case CommandResult::Code::kDone:
      break;
  }
  return result;
}

std::string Verdict(const json::PortChange& change, int query_error) {
  if (query_error != 0 || change.after == nullptr) {
    return "query_failed";
  }
  const bool served = change.before != nullptr && change.before->serving;
  const PortView& after = *change.after;
  if (after.serving) {
    return served ? "serving" : "recovered";
  }
  if (served) {
    return "lost";
  }
  if (after.Paused(PauseReason::kAdmin)) {
    return "held";
  }
  if (after.Paused(PauseReason::kSettling)) {
    return "settling";
  }
  return after.up ? "not_serving" : "down";
}

const PortView* PortOf(const std::optional<DeviceView>& device, uint32_t number) {
  if (device) {
    for (const PortView& port : device->ports) {
      if (port.data->number == number) {
        return &port;
      }
    }
  }
  return nullptr;
}

/// Views of a result's snapshots, kept while pointers into them are in use.
struct Answer {
  std::optional<DeviceView> before, after;
  double duration_ms = 0;
  std::string error;

  Answer(const Backend& backend, const CommandResult& result)
      : duration_ms(std::chrono::duration<double, std::milli>(result.duration).count()),
        error(result.query_error == 0 ? "" : ErrnoText(result.query_error)) {
    if (result.before != nullptr) {
      before = backend.view_of(result.before);
    }
    if (result.after != nullptr) {
      after = backend.view_of(result.after);
    }
  }
  json::PortChange Change(uint32_t port, int query_error) const {
    json::PortChange change{port, PortOf(before, port), PortOf(after, port), ""};
    change.verdict = Verdict(change, query_error);
    return change;
  }
};

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
  for (Waiting& device : *devices) {
    call.service.backend.holds->SetRelease(device.id, release);
    device.pending = call.service.backend.submit(device.id, CommandKind::kPoke, 0);
  }
  WaitFor(call, devices, true);
  return release.until;
}

/// Whether anything was released.
bool Reopen(Call& call, std::vector<Waiting>* devices) {
  bool changed = false;
  for (Waiting& device : *devices) {
    changed = call.service.backend.holds->ClearRelease(device.id) || changed;
    device.pending = call.service.backend.submit(device.id, CommandKind::kPoke, 0);
  }
  WaitFor(call, devices, false);
  return changed;
}

bool AnyPending(const std::vector<Waiting>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](const Waiting& device) { return device.status == "pending"; });
}

Expected<std::vector<Waiting>> OneDevice(Call& call) {
  const NodeView view = call.service.backend.view();
  auto device = FindDevice(view, call.segments["device"]);
  if (!device) {
    return device.error;
  }
  const DeviceSnapshot& data = *(*device)->data;
  call.audit.device = data.name;
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

Reply PostPortRequery(Call& call) {
  const NodeView view = call.service.backend.view();
  auto device = FindDevice(view, call.segments["device"]);
  if (!device) {
    return device.error;
  }
  auto port = FindPortNumber(**device, call.segments["port"]);
  if (!port) {
    return port.error;
  }
  const std::string name = (*device)->data->name;
  call.audit.device = name;
  auto result = Requery(call, **device, *port);
  if (!result) {
    return result.error;
  }
  const Answer answer(call.service.backend, *result);
  return JsonReply(200, json::PortRequery(name, answer.Change(*port, result->query_error),
                                          answer.duration_ms, answer.error));
}

Reply PostDeviceRequery(Call& call) {
  const NodeView view = call.service.backend.view();
  auto device = FindDevice(view, call.segments["device"]);
  if (!device) {
    return device.error;
  }
  const std::string name = (*device)->data->name;
  call.audit.device = name;
  auto result = Requery(call, **device, 0);
  if (!result) {
    return result.error;
  }
  const Answer answer(call.service.backend, *result);
  std::vector<json::PortChange> changes;
  for (const PortView& port : answer.after ? answer.after->ports : std::vector<PortView>()) {
    changes.push_back(answer.Change(port.data->number, port.data->last_query_error));
  }
  return JsonReply(200, json::DeviceRequery(name, changes, answer.duration_ms, answer.error));
}

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
  const bool changed = Reopen(call, &*devices);
  const Waiting& device = devices->front();
  return JsonReply(
      device.status == "pending" ? 202 : 200,
      json::Object({{"device", device.name}, {"status", device.status}, {"changed", changed}}));
}

Reply PostReleaseAll(Call& call) {
  auto devices = AllDevices(call);
  auto until = Release(call, &devices);
  return until ? AllReply(devices, "released") : until.error;
}

Reply PostReopenAll(Call& call) {
  auto devices = AllDevices(call);
  Reopen(call, &devices);
  return AllReply(devices, "reopened");
}

Reply PutLogLevel(Call& call) {
  const std::string* name = call.Find("level");
  const auto level = name == nullptr ? std::nullopt : log::LevelFromName(*name);
  if (!level) {
    return ErrorReply(400, name == nullptr ? "missing_parameter" : "invalid_parameter",
                      name == nullptr ? "level is missing" : "level is not known",
                      "level=debug, info, warning or error");
  }
  const std::string previous(log::LevelName(log::GetLevel()));
  log::SetLevel(*level);
  call.audit.reason = previous + " to " + *name;
  return JsonReply(200, json::Object({{"level", *name}, {"previous", previous}}));
}

Reply PostSimulator(Call& call) {
  std::vector<SimCommand> commands;
  if (const std::string error = json::ParseSimulatorCommands(call.request.body, &commands);
      !error.empty()) {
    return ErrorReply(400, "malformed_body", error,
                      "one command or a list of them; nothing was carried out");
  }
  uint64_t done = 0;
  for (const SimCommand& command : commands) {
    if (const std::string error = call.service.backend.simulate(command); !error.empty()) {
      return ErrorReply(400, "simulator_refused", "command " + std::to_string(done) + ": " + error,
                        std::to_string(done) + " commands before it were carried out");
    }
    ++done;
  }
  return JsonReply(200, json::Object({{"applied", done}}));
}

}  // namespace nicmon::http
