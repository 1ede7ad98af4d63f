#include "flag_table.h"

#include <sys/un.h>

#include <algorithm>
#include <array>

#include "nicmon/config/duration.h"
#include "nicmon/config/flags.h"
#include "nicmon/sim/simulated_rnic.h"
#include "values.h"

namespace nicmon::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

bool SetText(std::string& out, const std::string& value) {
  out = value;
  return !value.empty();
}

bool SetRegex(std::string& out, const std::string& value, std::string& why) {
  out = value;
  why = RegexError(value);
  return why.empty();
}

bool SetDuration(Duration& out, const std::string& value, Duration least, Duration most) {
  const auto duration = ParseDuration(value);
  out = duration.value_or(out);
  return duration && *duration >= least && *duration <= most;
}

template <typename T>
bool SetParsed(T& out, const std::optional<T>& parsed) {
  out = parsed.value_or(out);
  return parsed.has_value();
}

template <typename T, size_t N>
bool SetChoice(T& out, const std::string& value,
               const std::array<std::pair<std::string_view, T>, N>& choices) {
  const auto* const choice =
      std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.first == value; });
  if (choice == choices.end()) {
    return false;
  }
  out = choice->second;
  return true;
}

bool SetListen(Config& config, const std::string& value, std::string& /*why*/) {
  const auto listen = ParseListen(value);
  if (!listen) {
    return false;
  }
  config.listen_given = !listen->host.empty();
  config.listen_host = config.listen_given ? listen->host : "::";
  config.listen_port = listen->port;
  return true;
}

bool SetAdminSocket(Config& config, const std::string& value, std::string& why) {
  constexpr size_t kMostBytes = sizeof(sockaddr_un::sun_path) - 1;
  config.admin_socket = value == "none" ? "" : value;
  config.admin_socket_given = true;
  if (value.size() > kMostBytes) {
    why = "the path is longer than " + std::to_string(kMostBytes) + " bytes";
  }
  return !value.empty() && why.empty();
}

bool SetStateDir(Config& config, const std::string& value, std::string& /*why*/) {
  config.state_dir = value == "none" ? "" : value;
  config.state_dir_given = true;
  return !value.empty();
}

bool SetExpectPorts(Config& config, const std::string& value, std::string& /*why*/) {
  config.expect_ports_auto = value == "auto";
  const auto count = config.expect_ports_auto ? 0 : ParseCount(value, 65535);
  return SetParsed(config.expect_ports, count);
}

bool AddExpectSpeed(Config& config, const std::string& value, std::string& why) {
  for (const std::string& item : SplitList(value)) {
    auto rule = ParseExpectSpeed(item, why);
    if (!rule) {
      return false;
    }
    config.expect_speed.push_back(std::move(*rule));
  }
  return !SplitList(value).empty();
}

bool SetSimulate(Config& config, const std::string& value, std::string& why) {
  config.simulate = value;
  const bool accepted = ParseSimulationSpec(value, &why).has_value();
  why = why.substr(0, why.find(';'));  // what is accepted follows anyway
  return accepted;
}

constexpr std::string_view kRegexAccepts =
    "an ECMAScript regular expression that matches a whole device name, at most 1024 bytes";
constexpr std::string_view kBoolAccepts = "true, false, yes, no, 1 or 0";

constexpr Row kRows[] = {
    {"listen", "ADDR:PORT", "[::]:9879",
     "[IPv6]:PORT, IPv4:PORT or :PORT; a numeric address, no host name; port 0 picks a free one",
     "where metrics, health, read API and status page are served; the default and :PORT fall back "
     "to 0.0.0.0 where the host has no IPv6",
     SetListen},
    {"admin-socket", "PATH|none", "/run/nicmon/admin.sock", "a path of at most 107 bytes, or none",
     "unix socket on which every route works without a token", SetAdminSocket},
    {"admin-socket-group", "GROUP", "", "the name of a group of this host, or any group's number",
     "group that may use the admin socket",
     [](Config& c, const std::string& v, std::string&) {
       return SetText(c.admin_socket_group, v);
     }},
    {"admin-token-file", "FILE", "", "a readable file of name:token or name:sha256:HEX lines",
     "bearer tokens for operator routes over TCP, one name:token or name:sha256:HEX a line; "
     "without it these answer 403",
     [](Config& c, const std::string& v, std::string&) { return SetText(c.admin_token_file, v); }},
    {"web-config-file", "FILE", "",
     "a YAML file with tls_server_config, http_server_config and basic_auth_users, as of the "
     "Prometheus exporter toolkit",
     "TLS, client certificates and passwords for the TCP listener",
     [](Config& c, const std::string& v, std::string&) { return SetText(c.web_config_file, v); }},
    {"admin-allow-plaintext", "BOOL", "false", kBoolAccepts,
     "allow operator routes over TCP without TLS from other hosts",
     [](Config& c, const std::string& v, std::string&) {
       return SetParsed(c.admin_allow_plaintext, ParseBool(v));
     },
     Kind::kSwitch},
    {"device-include", "REGEX", "", kRegexAccepts, "watch only devices of these names",
     [](Config& c, const std::string& v, std::string& why) {
       return SetRegex(c.device_include, v, why);
     }},
    {"device-exclude", "REGEX", "", kRegexAccepts,
     "never open devices of these names nor read their files; stronger than --device-include",
     [](Config& c, const std::string& v, std::string& why) {
       return SetRegex(c.device_exclude, v, why);
     }},
    {"functions", "pf|all", "pf", "pf or all", "whether virtual and sub-functions are watched too",
     [](Config& c, const std::string& v, std::string&) {
       static constexpr auto kChoices =
           std::to_array<std::pair<std::string_view, bool>>({{"pf", false}, {"all", true}});
       return SetChoice(c.all_functions, v, kChoices);
     }},
    {"expect-ports", "N|auto", "0", "a number from 0 (not checked) to 65535, or auto",
     "ports that must be up for /readyz; auto: those that have been up before", SetExpectPorts},
    {"expect-speed", "[SELECTOR=]GBPS", "",
     "[SELECTOR=]GBPS with SELECTOR name:REGEX, board:REGEX, link:ib or link:eth and GBPS a number "
     "above 0; several separated by commas or spaces",
     "speed that ports are expected to have, in Gb/s; may be given several times, later ones win",
     AddExpectSpeed, Kind::kList},
    {"sysfs-root", "DIR", "/sys", "a directory", "where sysfs is mounted",
     [](Config& c, const std::string& v, std::string&) {
       c.sysfs_root_given = true;
       return SetText(c.sysfs_root, v);
     }},
    {"tick", "DURATION", "1s", "a duration from 100ms to 1m, such as 500ms or 2s",
     "how often every port is asked, whatever events say",
     [](Config& c, const std::string& v, std::string&) {
       return SetDuration(c.tick, v, milliseconds(100), minutes(1));
     }},
    {"counters-interval", "DURATION", "15s", "a duration from 1s to 1h, such as 15s or 1m",
     "how often hardware counters are read, but for port data, which is read with each tick",
     [](Config& c, const std::string& v, std::string&) {
       return SetDuration(c.counters_interval, v, seconds(1), hours(1));
     }},
    {"settle", "DURATION", "0s", "a duration from 0s to 1d, such as 30s or 2m",
     "how long a recovered port is held before it serves again",
     [](Config& c, const std::string& v, std::string&) {
       return SetDuration(c.settle, v, Duration(0), hours(24));
     }},
    {"state-dir", "DIR|none", "/var/lib/nicmon", "a directory, made where it is missing, or none",
     "where holds, releases, baselines, required ports and the history are kept; none: in memory "
     "only, as by default with --simulate",
     SetStateDir},
    {"data-path", "WHEN", "on-demand", "on-demand, always or never",
     "when a probe's protection domain, channel and completion queue are built: for each probe, "
     "with "
     "the device (and kept), or not at all",
     [](Config& c, const std::string& v, std::string&) {
       static constexpr auto kChoices = std::to_array<std::pair<std::string_view, DataPathMode>>(
           {{"on-demand", DataPathMode::kOnDemand},
            {"always", DataPathMode::kAlways},
            {"never", DataPathMode::kNever}});
       return SetChoice(c.data_path, v, kChoices);
     }},
    {"metrics-profile", "PROFILE", "standard", "minimal, standard or full",
     "how many series /metrics has",
     [](Config& c, const std::string& v, std::string&) {
       static constexpr auto kChoices = std::to_array<std::pair<std::string_view, MetricsProfile>>(
           {{"minimal", MetricsProfile::kMinimal},
            {"standard", MetricsProfile::kStandard},
            {"full", MetricsProfile::kFull}});
       return SetChoice(c.metrics_profile, v, kChoices);
     }},
    {"node-name", "NAME", "",
     "UTF-8 text of at most 253 bytes without control characters, quotes or backslashes, and "
     "with no blank at its ends",
     "name of this node in metrics and JSON; unset: the environment variable NODE_NAME, else the "
     "host name",
     [](Config& c, const std::string& v, std::string&) {
       c.node_name = v;
       return IsNodeName(v);
     }},
    {"log-level", "LEVEL", "info", "debug, info, warning or error", "least severity that is logged",
     [](Config& c, const std::string& v, std::string&) {
       return SetParsed(c.log_level, log::LevelFromName(v));
     }},
    {"log-format", "text|json", "text", "text or json", "how a record looks; one line in any case",
     [](Config& c, const std::string& v, std::string&) {
       static constexpr auto kChoices = std::to_array<std::pair<std::string_view, log::Format>>(
           {{"text", log::Format::kText}, {"json", log::Format::kJson}});
       return SetChoice(c.log_format, v, kChoices);
     }},
    {"simulate", "SPEC", "",
     "devices=N (1..64) or names=A+B, ports=N (1..16), speed=GBPS (one that links have, 10 to "
     "2400), link=eth or link=ib, separated by commas",
     "simulated RNICs in place of the hardware; refused on a host that has real ones", SetSimulate,
     Kind::kOptionalValue, Sources::kFlagOnly},
    {"simulate-force", "BOOL", "false", kBoolAccepts,
     "simulate although the host has real RDMA devices",
     [](Config& c, const std::string& v, std::string&) {
       return SetParsed(c.simulate_force, ParseBool(v));
     },
     Kind::kSwitch, Sources::kFlagOnly},
    {"config", "FILE", "", "a readable file of at most 1 MiB", "file of key = value lines", nullptr,
     Kind::kValue, Sources::kEnvironment},
    {"check-config", "", "", "", "print the effective configuration and exit", nullptr,
     Kind::kCommand, Sources::kFlagOnly},
    {"version", "", "", "", "print the version and exit", nullptr, Kind::kCommand,
     Sources::kFlagOnly},
    {"help", "", "", "", "print this text and exit", nullptr, Kind::kCommand, Sources::kFlagOnly},
};

}  // namespace

std::span<const Row> Rows() {
  return kRows;
}

std::string EnvironmentName(const Row& row) {
  if (row.sources == Sources::kFlagOnly) {
    return {};
  }
  std::string name = "NICMON_";
  for (const char c : row.name) {
    name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

}  // namespace nicmon::config

namespace nicmon {

std::vector<FlagText> FlagTexts() {
  using config::Kind;
  using config::Sources;
  std::vector<FlagText> texts;
  for (const config::Row& row : config::Rows()) {
    FlagText text;
    text.flag = "--" + std::string(row.name);
    text.value_name = row.value_name;
    text.value_optional = row.kind == Kind::kSwitch || row.kind == Kind::kOptionalValue;
    text.environment = config::EnvironmentName(row);
    text.key = row.sources == Sources::kAll ? row.name : "";
    text.default_text = row.default_text;
    text.accepts = row.accepts;
    text.help = row.help;
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace nicmon
