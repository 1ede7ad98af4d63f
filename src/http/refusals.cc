#include "http/refusals.h"

#include <chrono>

#include "http/service.h"

namespace nicmon::http {

std::string Look(std::string_view what) {
  std::string command(what);
  if (const size_t slash = command.find('/'); slash != std::string::npos) {
    command[slash] = ' ';
  }
  return "GET /api/v1/" + std::string(what) + " (nicmon ctl " + command + ")";
}

Reply InvalidParameter(std::string_view message, std::string_view hint) {
  return ErrorReply(400, "invalid_parameter", message, hint);
}

Reply Unavailable(std::string_view code, std::string_view message, std::string_view hint) {
  Reply reply = ErrorReply(503, code, message, hint);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Reply Stopping() {
  return Unavailable("stopping", "nicmon is stopping", "try again when it runs");
}

Reply NotOpen(const DeviceView& device) {
  const std::string& detail = device.data->detail;
  return ErrorReply(
      409, "device_not_open",
      "the device is " + std::string(device.status_name()) + (detail.empty() ? "" : ": " + detail),
      device.data->status == DeviceStatus::kReleased
          ? "POST /api/v1/devices/" + device.data->name + "/reopen (nicmon ctl reopen " +
                device.data->name + ") opens it again, as does the end of the release"
          : "there is nothing to ask; " + Look("devices/" + device.data->name) +
                " has its status and what was tried");
}

Reply NoSuchPort() {
  return ErrorReply(404, "unknown_port", "the device has no such port",
                    Look("ports") + " lists them");
}

Reply Hangs(const DeviceView& device, const std::string& next) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(device.stalled_for).count();
  return ErrorReply(504, "not_started",
                    "the device hangs in " + device.stalled_call + ", for " +
                        std::to_string(seconds) + " s now, and was not asked",
                    next + "; " + Look("devices/" + device.data->name) + " says whether it has");
}

}  // namespace nicmon::http
