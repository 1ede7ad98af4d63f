#include <chrono>

#include "http/json.h"
#include "http/lookup.h"
#include "http/refusals.h"
#include "http/routes.h"

namespace nicmon::http {
namespace {

/// "ok", "failed at reg_mr: …": what was found, for the log.
std::string ResultInWords(const ProbeResult& result) {
  return result.ok() ? "ok"
                     : "failed at " + std::string(ProbeStepName(*result.failed)) +
                           (result.error.empty() ? "" : ": " + result.error);
}

Reply Never() {
  return ErrorReply(409, "data_path_never", "nicmon was started with --data-path=never",
                    "start it with --data-path=on-demand, the default, to have probes");
}

Reply Busy(const std::string& device) {
  return ErrorReply(409, "probe_running", "another probe of " + device + " still runs",
                    "one at a time runs per device: ask again in a second. One that does not end "
                    "hangs in the driver: see dmesg");
}

Reply TimedOut(Duration patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  return ErrorReply(504, "in_progress",
                    "the probe has not come to its end within " + std::to_string(seconds) + " s",
                    "the driver or the firmware hangs: see dmesg. It goes on, gives back what it "
                    "holds when it ends, and no other of this device runs before");
}

}  // namespace

Reply PostProbe(Call& call) {
  const NodeView view = call.service.backend.view();
  auto target = FindTarget(call, view);
  if (!target) {
    return target.error;
  }
  const DeviceView& device = *target->device;
  if (device.stalled) {
    return Hangs(device, "a probe would hang too: ask again when that call has returned");
  }
  const Duration patience = call.service.options.command_timeout;
  const ProbeOutcome outcome = call.service.backend.probe(device.data->id, target->port, patience);
  switch (outcome.code) {
    case ProbeOutcome::Code::kNotOpen:
      return NotOpen(device);
    case ProbeOutcome::Code::kUnknownPort:
      return NoSuchPort();
    case ProbeOutcome::Code::kNever:
      return Never();
    case ProbeOutcome::Code::kBusy:
      return Busy(target->name());
    case ProbeOutcome::Code::kNoThread:
      return Unavailable("no_thread", "there is no thread for the probe",
                         "raise the limit of processes: pids.max of the cgroup, ulimit -u");
    case ProbeOutcome::Code::kTimedOut:
      return TimedOut(patience);
    case ProbeOutcome::Code::kStopping:
      return Stopping();
    case ProbeOutcome::Code::kDone:
      break;
  }
  call.audit.found = ResultInWords(outcome.result);
  return JsonReply(200, json::Probe(target->name(), target->port, outcome.result));
}

}  // namespace nicmon::http
