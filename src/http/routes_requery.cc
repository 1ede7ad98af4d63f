#include <chrono>

#include "http/json.h"
#include "http/lookup.h"
#include "http/refusals.h"
#include "http/routes.h"
#include "nicmon/base/errno_text.h"

namespace nicmon::http {
namespace {

/// Queues a requery and waits for it. The result, or the reply that says why there is none; of a
/// device that is known to hang at once.
Expected<CommandResult> Requery(const Call& call, const DeviceView& device, uint32_t port) {
  if (device.stalled) {
    return Hangs(device, "it is asked by itself as soon as that call returns");
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
                        "it will never run; the device hangs in a call, see " + Look("devices"));
    case Pending::State::kRunning:
      return ErrorReply(504, "in_progress", "the hardware has not answered yet",
                        "the query still runs, and " + Look("ports") + " shows what it finds");
    case Pending::State::kDone:
      break;
  }
  switch (result.code) {
    case CommandResult::Code::kNotOpen:
      return NotOpen(device);
    case CommandResult::Code::kUnknownPort:
      return NoSuchPort();
    case CommandResult::Code::kStopping:
      return Stopping();
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
