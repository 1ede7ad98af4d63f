#pragma once

#include <string>

#include "ctl/client.h"
#include "ctl/replies.h"

/// What commands have in common: paths, errors, endings.
namespace nicmon::ctl {

/// "/api/v1/ports/mlx5_0/1/pause" of "mlx5_0/1"; `action` may be "".
std::string PortPath(const std::string& target, const std::string& action);
std::string DevicePath(const std::string& target, const std::string& action);

/// An answer that is no success, in one line; `exit_code` is what it means.
struct Refusal {
  std::string text;
  int exit_code;
};
Refusal Describe(const Answer& answer);

/// Prints why and returns the exit code.
int Fail(const Answer& answer);
/// The answer is none that this program understands.
int FailUnknown();

/// Prints the text for people and returns `exit_code`, or kCannot when it could not be written.
int Finish(const std::string& text, int exit_code);
/// The same, of an answer as it came, which ends with a newline: for programs.
int FinishRaw(const Answer& answer, int exit_code);

/// "h1 by ops since … until …: bad cable"; of a release, which has no id, all from " by" on.
std::string HoldText(const HoldReply& hold);

}  // namespace nicmon::ctl
