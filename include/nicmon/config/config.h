#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/base/log.h"
#include "nicmon/device/probe_result.h"
#include "nicmon/monitor/view.h"

namespace nicmon {

enum class MetricsProfile { kMinimal, kStandard, kFull };

/// The effective configuration: flag > environment > file > default, all validated.
struct Config {
  std::string listen_host = "::";  // numeric address without brackets
  uint16_t listen_port = 9879;     // 0: any
  bool listen_given = false;       // false: fall back to 0.0.0.0 where the host has no IPv6

  std::string admin_socket = "/run/nicmon/admin.sock";  // empty: none
  bool admin_socket_given = false;  // false: replaced with a warning when it cannot be used
  std::string admin_socket_group;
  std::string admin_token_file;
  bool admin_allow_plaintext = false;
  std::string web_config_file;

  std::string device_include, device_exclude;  // ECMAScript regular expressions, whole name
  bool all_functions = false;
  uint32_t expect_ports = 0;
  bool expect_ports_auto = false;
  std::vector<ExpectSpeed> expect_speed;
  std::string sysfs_root = "/sys";
  bool sysfs_root_given = false;
  Duration tick = std::chrono::seconds(1);
  Duration counters_interval = std::chrono::seconds(15);
  Duration settle{0};
  std::string state_dir = "/var/lib/nicmon";  // empty: none
  bool state_dir_given = false;  // false: done without, with a warning, when it cannot be used
  DataPathMode data_path = DataPathMode::kOnDemand;
  MetricsProfile metrics_profile = MetricsProfile::kStandard;
  std::string node_name;
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;

  std::optional<std::string> simulate;  // the SPEC, "" without one
  bool simulate_force = false;

  /// (key, value) of every row in table order as it is in force, secrets left out; for the log.
  std::vector<std::pair<std::string, std::string>> effective;
  /// Things to warn of once logging is up (unknown NICMON_* variables).
  std::vector<std::string> warnings;
};

/// What the command line asks for.
struct CommandLine {
  enum class Action { kRun, kCheckConfig, kExit };
  Action action = Action::kRun;
  int exit_code = 0;   // with kExit: 0 after --help and --version, 2 for a usage error
  std::string output;  // with kExit: the text, for stdout when exit_code is 0, else for stderr
  Config config;
};

/// Whether a file that a setting names holds what it should: what is wrong with it in a few words,
/// empty when nothing is. Given by whoever reads the file later on.
struct FileCheck {
  std::string key;  // "admin-token-file"
  std::function<std::string(const std::string& path)> problem;
};

/// Reads argv, the environment (as environ) and the --config file. Never throws.
CommandLine ReadCommandLine(int argc, const char* const* argv, const char* const* environment,
                            const std::vector<FileCheck>& checks = {});

}  // namespace nicmon
