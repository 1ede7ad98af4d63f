#include "ctl/outcome.h"

#include "ctl/command_table.h"
#include "ctl/text.h"

namespace nicmon::ctl {
namespace {

/// The server speaks of parameters, its users here of flags.
std::string Hint(const ErrorReply& error) {
  constexpr std::pair<std::string_view, const char*> kInFlags[] = {
      {"already_held", "resume it first, or give --replace"},
      {"hold_mismatch", "leave out --hold-id, or give that of the hold in force"},
      {"unauthorized", "give --token-file, or for what only reads --user and --password-file"},
  };
  for (const auto& [code, hint] : kInFlags) {
    if (error.code == code) {
      return hint;
    }
  }
  return error.hint;
}

/// 409 and the 5xx are about the state of things, the rest about what was asked.
int ExitCode(int status, const std::string& code) {
  const bool state = status == 409 || status >= 500;
  return state && code != "ambiguous_device" && code != "too_many_connections" ? kNo : kCannot;
}

}  // namespace

std::string PortPath(const std::string& target, const std::string& action) {
  const auto name = ParsePortName(target).value_or(PortName{target, ""});
  return "/api/v1/ports/" + PercentEncode(name.device) + "/" + PercentEncode(name.port) +
         (action.empty() ? "" : "/" + action);
}

std::string DevicePath(const std::string& target, const std::string& action) {
  return "/api/v1/devices/" + PercentEncode(target) + (action.empty() ? "" : "/" + action);
}

Refusal Describe(const Answer& answer) {
  if (answer.status == 0) {
    return {answer.problem, kCannot};
  }
  const ErrorReply error = ParseError(answer.body);
  if (error.message.empty()) {
    return {"nicmon answered " + std::to_string(answer.status) + " without saying why", kCannot};
  }
  std::string text = error.message;
  text += error.hold ? " (" + HoldText(*error.hold) + ")" : "";
  text += Hint(error).empty() ? "" : "; " + Hint(error);
  return {text, ExitCode(answer.status, error.code)};
}

int Fail(const Answer& answer) {
  const Refusal refusal = Describe(answer);
  PrintError(refusal.text);
  return refusal.exit_code;
}

int FailUnknown() {
  PrintError("the answer is not understood: what answers is no nicmon, or one of another version");
  return kCannot;
}

int Finish(const std::string& text, int exit_code) {
  return PrintText(text) ? exit_code : kCannot;
}

int FinishRaw(const Answer& answer, int exit_code) {
  return Print(answer.body) ? exit_code : kCannot;
}

std::string HoldText(const HoldReply& hold) {
  return hold.id + (hold.by.empty() ? "" : " by " + hold.by) + " since " + hold.since +
         (hold.until.empty() ? "" : " until " + hold.until) + ": " + hold.reason;
}

}  // namespace nicmon::ctl
