#pragma once

#include <string>
#include <string_view>

#include "http/message.h"
#include "nicmon/monitor/view.h"

/// Why something was not done: what was asked cannot be taken, or a device was not asked, or did
/// not answer.
namespace nicmon::http {

/// Where to look, for those who have curl and for those who have not: of "devices/mlx5_0",
/// "GET /api/v1/devices/mlx5_0 (nicmon ctl devices mlx5_0)".
std::string Look(std::string_view what);

/// 400.
Reply InvalidParameter(std::string_view message, std::string_view hint);

/// 503 with Retry-After.
Reply Unavailable(std::string_view code, std::string_view message, std::string_view hint);
Reply Stopping();

/// 409, with the device's status.
Reply NotOpen(const DeviceView& device);

/// 404, of a port that went away between looking it up and asking it.
Reply NoSuchPort();

/// 504 at once, of a device that is known to hang. `next`: what becomes of what was asked; the hint
/// says behind it how to see whether the device has come back.
Reply Hangs(const DeviceView& device, const std::string& next);

}  // namespace nicmon::http
