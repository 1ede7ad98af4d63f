#include "http/json.h"
#include "http/lookup.h"
#include "http/records.h"
#include "http/refusals.h"
#include "http/routes.h"
#include "http/text.h"
#include "http/times.h"

namespace nicmon::http {
namespace {

constexpr std::string_view kEffect =
    "select skips this port and its alerts are off; running jobs are not touched";

/// The end that `ttl` or `until` give; an empty optional: none.
Expected<std::optional<WallTime>> End(const Call& call) {
  const std::string* ttl = call.Find("ttl");
  const std::string* until = call.Find("until");
  if (ttl != nullptr && until != nullptr) {
    return InvalidParameter("ttl and until are both given", "give one of them");
  }
  if (ttl != nullptr) {
    const auto duration = ParseTtl(*ttl);
    if (!duration) {
      return InvalidParameter("ttl is not a duration",
                              "like 30s, 10m, 2h, 1d or 1h30m, at most ten years");
    }
    return std::optional(call.now() + *duration);
  }
  if (until != nullptr) {
    const auto time = ParseRfc3339(*until);
    if (!time) {
      return InvalidParameter("until is not an RFC 3339 time",
                              "with date and offset, like 2026-01-31T23:59:59Z; or use ttl");
    }
    if (*time <= call.now()) {
      return InvalidParameter("until is in the past", "it is now " + Rfc3339(call.now()));
    }
    return time;
  }
  return std::optional<WallTime>();
}

Expected<bool> Replace(const Call& call) {
  const std::string* replace = call.Find("replace");
  if (replace == nullptr || *replace == "false" || *replace == "0") {
    return false;
  }
  if (*replace == "true" || *replace == "1") {
    return true;
  }
  return InvalidParameter("replace is not true or false", "replace=true takes the place of a hold");
}

/// Notes whose hold it is, as far as that is known by now.
void NoteHolder(Call& call, const std::string& hold_id) {
  const NodeView view = call.service.backend.view();
  for (const auto& [hold, kept] : view.holds->InForce(view.now)) {
    if (hold->id == hold_id) {
      call.audit.device = kept->name;
      call.audit.port = std::to_string(hold->port.second);
    }
  }
}

void RecordHold(Call& call, const Hold& hold) {
  call.audit.hold = hold.id;
  call.audit.until = hold.until ? Rfc3339(*hold.until) : "none";
  if (call.audit.reason.empty()) {
    call.audit.reason = hold.reason;
  }
}

/// A command that sets the hold again with the same end; empty without an admin socket. The log
/// then has all there is to know, should the file of holds be lost.
std::string Again(const Call& call, const Hold& hold, const std::string& device) {
  if (call.service.options.admin_socket.empty()) {
    return {};
  }
  return "curl --unix-socket " + call.service.options.admin_socket +
         " http://localhost/api/v1/ports/" + PercentEncode(device) + "/" +
         std::to_string(hold.port.second) + "/pause -d reason=" + PercentEncode(hold.reason) +
         " -d by=" + PercentEncode(hold.by) +
         (hold.until ? " -d until=" + PercentEncode(Rfc3339(*hold.until)) : "");
}

void RecordLifted(Call& call, const Hold& hold) {
  RecordHold(call, hold);
  call.audit.held_by = hold.by;
}

/// For a port of a device that was not seen since the start; `unknown` when nothing is kept of it.
Reply ForgetAbsent(Call& call, const Reply& unknown) {
  const auto port = ParseNumber(call.segments["port"]);
  if (!port || *port > UINT32_MAX) {
    return unknown;
  }
  std::string why;
  const auto result = call.service.backend.holds->ForgetAbsent(call.segments["device"],
                                                               static_cast<uint32_t>(*port), &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  if (result != Holds::Result::kDone) {
    return unknown;
  }
  return JsonReply(200, json::Object({{"device", call.segments["device"]},
                                      {"port", *port},
                                      {"changed", true},
                                      {"device_forgotten", false}}));
}

}  // namespace

Reply NotStored(const std::string& why) {
  Reply reply =
      ErrorReply(503, "not_stored", "it could not be written, nothing has changed: " + why,
                 "make room in the state directory, make it writable, or see why its disk does not "
                 "answer (dmesg), then try again");
  reply.headers.emplace_back("Retry-After", "5");
  return reply;
}

Reply PostPause(Call& call) {
  const NodeView view = call.service.backend.view();
  auto target = FindTarget(call, view);
  if (!target) {
    return target.error;
  }
  const std::string* reason = call.Find("reason");
  if (reason == nullptr || reason->empty()) {
    return ErrorReply(400, "missing_parameter", "reason is missing",
                      "say why, for whoever finds the port held: -d reason='bad cable'");
  }
  auto end = End(call);
  if (!end) {
    return end.error;
  }
  auto replace = Replace(call);
  if (!replace) {
    return replace.error;
  }
  Hold hold;
  std::optional<Hold> replaced;
  std::string why;
  const auto result = call.service.backend.holds->Pause(
      target->key(), target->name(), *reason, call.By(), *end, *replace, &hold, &why, &replaced);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  if (result == Holds::Result::kConflict) {
    return JsonReply(
        409, json::HeldError("already_held", "the port is held already",
                             "resume it first, or send replace=true", hold, target->name(), false));
  }
  RecordHold(call, hold);
  call.audit.again = Again(call, hold, target->name());
  if (replaced) {
    call.audit.held_by = replaced->by;
    call.audit.replaced = InWords(*replaced);
  }
  const Hold* gave_way = replaced ? &*replaced : nullptr;
  TellHold(call, "pause", hold, target->name(), true, gave_way);
  call.service.backend.submit(target->device->data->id, CommandKind::kPoke, 0);
  const auto state = call.service.backend.holds->snapshot();
  const KeptDevice* kept = state->Find(target->key().first);
  const bool durable = state->durable && kept != nullptr && kept->key.durable();
  return JsonReply(200, json::Paused(hold, gave_way, target->name(), durable, kEffect));
}

Reply PostResume(Call& call) {
  const NodeView view = call.service.backend.view();
  auto target = FindTarget(call, view);
  if (!target) {
    return target.error;
  }
  const std::string* hold_id = call.Find("hold_id");
  Hold lifted;
  std::string why;
  const auto result = call.service.backend.holds->Resume(
      target->key(), hold_id == nullptr ? "" : *hold_id, &lifted, &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  if (result == Holds::Result::kConflict) {
    const Hold* hold = view.holds->FindHold(target->key(), view.now);
    const std::string hint = "leave out hold_id, or give that of the hold in force";
    return hold == nullptr
               ? ErrorReply(409, "hold_mismatch", "the port is held by another hold", hint)
               : JsonReply(409, json::HeldError("hold_mismatch", "the port is held by another hold",
                                                hint, *hold, target->name(), false));
  }
  if (result == Holds::Result::kNotFound) {
    return JsonReply(200, json::Resumed(false, nullptr, target->name()));
  }
  RecordLifted(call, lifted);
  TellHold(call, "resume", lifted, target->name(), false);
  call.service.backend.submit(target->device->data->id, CommandKind::kPoke, 0);
  return JsonReply(200, json::Resumed(true, &lifted, target->name()));
}

Reply DeleteHold(Call& call) {
  const std::string& id = call.segments["id"];
  call.audit.hold = id;
  Hold dropped;
  std::string why;
  NoteHolder(call, id);
  const auto result = call.service.backend.holds->Delete(id, &dropped, &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  if (result != Holds::Result::kDone) {
    return ErrorReply(404, "unknown_hold", "there is no hold " + id, Look("holds") + " lists them");
  }
  if (call.audit.device.empty()) {
    call.audit.device = dropped.device;
  }
  const std::string& device = call.audit.device;
  call.audit.port = std::to_string(dropped.port.second);
  RecordLifted(call, dropped);
  TellHold(call, "delete", dropped, device, false);
  call.service.backend.submit(dropped.port.first, CommandKind::kPoke, 0);
  return JsonReply(200, json::Resumed(true, &dropped, device));
}

Reply PostAcceptSpeed(Call& call) {
  const NodeView view = call.service.backend.view();
  auto found = FindPort(call, view);
  if (!found) {
    return found.error;
  }
  const PortView& port = **found;
  const auto& speed = port.data->effective_speed_bps;
  if (!port.up || port.stale || !speed) {
    return ErrorReply(409, "port_not_up", "the port has no speed now that could be accepted",
                      "wait until it is up, or requery it");
  }
  std::string why;
  const auto result = call.service.backend.holds->SetBaseline(
      PortKey(port.device->id, port.data->number), *speed, &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  // Whole numbers without a fraction, as everywhere.
  const auto gbps = [](const std::optional<uint64_t>& bps) -> json::Value {
    constexpr uint64_t kGiga = 1'000'000'000;
    if (!bps) {
      return nullptr;
    }
    return *bps % kGiga == 0 ? json::Value(*bps / kGiga)
                             : json::Value(static_cast<double>(*bps) / kGiga);
  };
  return JsonReply(200,
                   json::Object({{"device", port.device->name},
                                 {"port", uint64_t{port.data->number}},
                                 {"baseline_speed_gbps", gbps(speed)},
                                 {"previous_baseline_speed_gbps", gbps(port.baseline_speed_bps)}}));
}

Reply PostForget(Call& call) {
  const NodeView view = call.service.backend.view();
  auto target = FindTarget(call, view);
  if (!target) {
    return target.error.status == 404 ? ForgetAbsent(call, target.error) : target.error;
  }
  const DeviceSnapshot& data = *target->device->data;
  const bool absent = data.status == DeviceStatus::kAbsent;
  auto port = FindPort(call, view);
  if (port && (*port)->up && !absent) {
    return ErrorReply(409, "port_up", "the port is up, and would be required again at once",
                      "forget is for ports that are gone");
  }
  const Backend& backend = call.service.backend;
  std::string why;
  const auto result = backend.holds->Forget(target->key(), &why);
  if (result == Holds::Result::kNotStored) {
    return NotStored(why);
  }
  const bool forgotten = result == Holds::Result::kDone;
  const bool device_forgotten = absent && backend.forget_device(data.id);
  if (device_forgotten) {
    backend.holds->ForgetDevice(data.id);
  }
  return JsonReply(200, json::Object({{"device", data.name},
                                      {"port", uint64_t{target->port}},
                                      {"changed", forgotten || device_forgotten},
                                      {"device_forgotten", device_forgotten}}));
}

}  // namespace nicmon::http
