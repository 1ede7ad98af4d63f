#include <chrono>

#include "http/json.h"
#include "http/lookup.h"
#include "http/routes.h"
#include "nicmon/base/errno_text.h"

namespace nicmon::http {
namespace {

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
      device.data->status == DeviceStatus::kReleased
          ? "nothing of it is open until POST /api/v1/devices/" + device.data->name +
                "/reopen (nicmon ctl reopen " + device.data->name + ") or the end of the release"
          : "there is nothing to ask; GET /api/v1/devices/" + device.data->name +
                " has its status and what was tried");
}

Reply Hangs(const DeviceView& device) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(device.stalled_for).count();
  return ErrorReply(504, "not_started",
                    "the device hangs in " + device.stalled_call + ", for " +
                        std::to_string(seconds) + " s now, and was not asked",
                    "it is asked by itself as soon as that call returns; GET /api/v1/devices/" +
                        device.data->name + " says whether it has");
}

/// Queues a requery and waits for it. The result, or the reply that says why there is none; of a
/// device that is known to hang at once.
Expected<CommandResult> Requery(const Call& call, const DeviceView& device, uint32_t port) {
  if (device.stalled) {
    return Hangs(device);
  }
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

}  // namespace

Reply PostPortRequery(Call& call) {
  const NodeView view = call.service.backend.view();
  auto target = FindTarget(call, view);
  if (!target) {
    return target.error;
  }
  auto result = Requery(call, *target->device, target->port);
  if (!result) {
    return result.error;
  }
  const Answer answer(call.service.backend, *result);
  return JsonReply(
      200, json::PortRequery(target->name(), answer.Change(target->port, result->query_error),
                             answer.duration_ms, answer.error));
}

Reply PostDeviceRequery(Call& call) {
  const NodeView view = call.service.backend.view();
  auto device = FindDevice(call, view);
  if (!device) {
    return device.error;
  }
  auto result = Requery(call, **device, 0);
  if (!result) {
    return result.error;
  }
  const Answer answer(call.service.backend, *result);
  std::vector<json::PortChange> changes;
  for (const PortView& port : answer.after ? answer.after->ports : std::vector<PortView>()) {
    changes.push_back(answer.Change(port.data->number, port.data->last_query_error));
  }
  return JsonReply(
      200, json::DeviceRequery((*device)->data->name, changes, answer.duration_ms, answer.error));
}

}  // namespace nicmon::http
