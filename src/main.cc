#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/app/control_loop.h"
#include "nicmon/app/node.h"
#include "nicmon/app/process.h"
#include "nicmon/app/service_manager.h"
#include "nicmon/base/log.h"
#include "nicmon/config/config.h"
#include "nicmon/config/version.h"
#include "nicmon/ctl/ctl.h"
#include "nicmon/http/server.h"

namespace {

using std::chrono::milliseconds;

void Print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

/// Ends the process from here: neither destructors nor threads that hang can delay it.
[[noreturn]] void Leave(int code) {
  nicmon::log::Stop(300);
  ::_exit(code);
}

void LogStart(const nicmon::Config& config) {
  nicmon::log::Info("nicmon starts",
                    {{"version", nicmon::Version()}, {"revision", nicmon::Revision()}});
  std::vector<nicmon::log::Field> fields;
  for (const auto& [key, value] : config.effective) {
    fields.push_back({key, value});
  }
  nicmon::log::WriteFields(nicmon::log::Level::kInfo, "effective configuration", fields);
  for (const std::string& warning : config.warnings) {
    nicmon::log::Warning(warning);
  }
}

[[noreturn]] void Run(const nicmon::Config& config) {
  nicmon::Node node(config);
  nicmon::ControlLoop loop;
  auto manager = nicmon::ServiceManager::FromEnvironment();
  node.Start();
  manager.Ready();
  while (true) {
    switch (loop.Wait()) {
      case nicmon::ControlLoop::Event::kSecond:
        manager.Alive(node.Second());
        break;
      case nicmon::ControlLoop::Event::kReload:
        manager.Reloading();
        node.Reload();
        manager.Ready();
        break;
      case nicmon::ControlLoop::Event::kStop:
        nicmon::ArmLastResort(milliseconds(1800));
        manager.Stopping();
        nicmon::log::Info("stopping");
        node.Stop();
        nicmon::log::Info("stopped");
        Leave(EXIT_SUCCESS);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "ctl") {
    nicmon::OpenStandardStreams();
    return nicmon::RunCtl(argc, argv);
  }
  nicmon::PrepareSignals();
  nicmon::NameProcess();
  nicmon::OpenStandardStreams();
  const nicmon::CommandLine line =
      nicmon::ReadCommandLine(argc, argv, environ,
                              {{"admin-token-file", nicmon::TokenFileProblem},
                               {"web-config-file", nicmon::WebConfigProblem}});
  if (line.action != nicmon::CommandLine::Action::kRun) {
    Print(line.exit_code == 0 ? STDOUT_FILENO : STDERR_FILENO, line.output);
    return line.exit_code;
  }
  nicmon::TuneAllocator();
  nicmon::RaiseFileLimit();
  nicmon::HoldStopSignals();
  try {
    nicmon::log::Start(line.config.log_format, line.config.log_level);
    LogStart(line.config);
    Run(line.config);
  } catch (const std::exception& error) {
    nicmon::log::Error("nicmon cannot run", {{"reason", error.what()}});
    Leave(EXIT_FAILURE);
  }
}
