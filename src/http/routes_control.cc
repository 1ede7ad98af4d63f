// What is done to nicmon itself: log level, simulator.
#include "http/json.h"
#include "http/routes.h"
#include "nicmon/base/log.h"

namespace nicmon::http {

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
