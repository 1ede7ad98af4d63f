#include "nicmon/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "config/temp_file.h"
#include "nicmon/config/flags.h"

namespace nicmon {

/// For names and messages of parametrised tests.
void PrintTo(const FlagText& row, std::ostream* out) {
  *out << row.flag;
}

namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::TempDir;
using Action = CommandLine::Action;
using Strings = std::vector<std::string>;

CommandLine ReadLine(const Strings& flags, const Strings& environment = {}) {
  std::vector<const char*> argv = {"nicmon"};
  std::vector<const char*> variables;
  for (const auto& flag : flags) {
    argv.push_back(flag.c_str());
  }
  for (const auto& variable : environment) {
    variables.push_back(variable.c_str());
  }
  argv.push_back(nullptr);
  variables.push_back(nullptr);
  return ReadCommandLine(static_cast<int>(argv.size()) - 1, argv.data(), variables.data());
}

Config Read(const Strings& flags, const Strings& environment = {}) {
  const CommandLine line = ReadLine(flags, environment);
  EXPECT_EQ(line.action, Action::kRun) << line.output;
  return line.config;
}

/// The one line of a usage error.
std::string Refused(const Strings& flags, const Strings& environment = {}) {
  const CommandLine line = ReadLine(flags, environment);
  EXPECT_EQ(line.action, Action::kExit);
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.output, StartsWith("nicmon: "));
  EXPECT_EQ(std::count(line.output.begin(), line.output.end(), '\n'), 1) << line.output;
  EXPECT_TRUE(line.output.ends_with('\n'));
  return line.output;
}

std::map<std::string, std::string> Effective(const Config& config) {
  return {config.effective.begin(), config.effective.end()};
}

/// Values of one row: three that are accepted and differ, and some that are not.
struct Values {
  Strings good;
  Strings bad;
};

class ConfigRows : public ::testing::TestWithParam<FlagText> {
 protected:
  ConfigRows() {
    const std::string a = dir_.Write("a", "x:y\n");
    const std::string b = dir_.Write("b", "x:y\n");
    const std::string c = dir_.Write("c", "x:y\n");
    const std::string empty = dir_.Write("empty", " \n");
    values_ = {
        {"listen",
         {{"127.0.0.1:1", "[::1]:2", ":0", "[127.0.0.1]:1"},
          {"9879", "localhost:1", "::1:9879", "[::1]", "127.0.0.1:65536", "127.0.0.1:", "[]:1",
           "127.0.0.1:-1", "127.0.0.1:1x", "[127.0.0.1:1", "127.0.0.1]:1", "[fe80::1%eth0]:1",
           " :1"}}},
        {"admin-socket", {{"/run/x.sock", "none", "y.sock"}, {std::string(108, 'x')}}},
        {"admin-socket-group", {{"root", "0", "daemon"}, {"no-such-group-here"}}},
        {"admin-token-file", {{a, b, c}, {dir_.path() + "/none", dir_.path(), empty}}},
        {"web-config-file", {{a, b, c}, {dir_.path() + "/none", dir_.path(), empty}}},
        {"admin-allow-plaintext", {{"true", "false", "yes"}, {"on", "TRUE", "2", "maybe"}}},
        {"device-include", {{"mlx5_.*", "a|b", "[ab]"}, {"(", "[", "*", "a{2,1}"}}},
        {"device-exclude", {{"mlx5_.*", "a|b", "rxe\\d+"}, {"(", "[", "*", "\\"}}},
        {"functions", {{"pf", "all", "pf"}, {"vf", "PF"}}},
        {"expect-ports", {{"1", "auto", "16"}, {"-1", "65536", "1.5", "all", "0x1", "+1"}}},
        {"expect-speed",
         {{"400", "name:mlx5_[0-3]=200,link:ib=100", "board:MT_0.*=2.5"},
          {"0",   "-1", "fast",    "400G",       "1e3",       "0x10",     "inf",
           "nan", ".5", "5.",      "name:(=100", "name:=100", "port:x=1", "link:roce=100",
           "x=1", "=1", "name:a=", "400,fast",   "100001",    ","}}},
        {"sysfs-root", {{"/sys", "/", dir_.path()}, {dir_.path() + "/none", a}}},
        {"tick",
         {{"100ms", "1m", "2s"}, {"0s", "99ms", "61s", "-1s", "1", "1x", "s", "1.5s", "1 s"}}},
        {"counters-interval", {{"1s", "1h", "15s"}, {"0s", "999ms", "61m", "-15s", "15"}}},
        {"settle", {{"0s", "1d", "2m"}, {"-1s", "25h", "0", "2w", "99999999999999d"}}},
        {"state-dir", {{"/x/not/yet/there", "none", dir_.path()}, {a}}},
        {"metrics-profile", {{"minimal", "full", "standard"}, {"all", "Full"}}},
        {"node-name",
         {{"n1", "n2", "n\xc3\xb6"}, {"a\nb", "\xff", "a\"b", " n", " ", std::string(254, 'x')}}},
        {"log-level", {{"debug", "error", "warning"}, {"warn", "trace", "INFO"}}},
        {"log-format", {{"json", "text", "json"}, {"xml"}}},
        {"simulate", {{"devices=2", "names=a+b", "devices=1,speed=100"}, {"bogus"}}},
        {"simulate-force", {{"true", "no", "1"}, {"on"}}},
        {"config", {{}, {dir_.path() + "/none", dir_.path()}}},
    };
  }

  std::string name() const { return GetParam().flag.substr(2); }
  std::string Flag(const std::string& value) const { return GetParam().flag + "=" + value; }
  std::string Variable(const std::string& value) const {
    return GetParam().environment + "=" + value;
  }
  std::string File(const std::string& value) const {
    return dir_.Write("nicmon.conf", "\n" + GetParam().key + " = " + value + "\n");
  }
  const Values& values() const { return values_.at(name()); }
  std::string InForce(const Strings& flags, const Strings& environment = {}) const {
    return Effective(Read(flags, environment)).at(name());
  }

  TempDir dir_;
  std::map<std::string, Values> values_;
};

TEST_P(ConfigRows, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  if (values().good.empty()) {
    return;  // has a test of its own
  }
  const auto& [a, b, c] = std::tie(values().good[0], values().good[1], values().good[2]);
  EXPECT_EQ(InForce({Flag(a)}), a);
  if (GetParam().key.empty()) {
    EXPECT_THAT(GetParam().environment, IsEmpty());
    return;
  }
  EXPECT_EQ(InForce({}, {Variable(b)}), b);
  EXPECT_EQ(InForce({"--config", File(c)}), c);
  EXPECT_EQ(InForce({"--config", File(c)}, {Variable(b)}), b);
  EXPECT_EQ(InForce({"--config", File(c), Flag(a)}, {Variable(b)}), a);
  EXPECT_EQ(InForce({"--config", File(c), Flag(a)}), a);
  EXPECT_EQ(InForce({Flag(a)}, {Variable(b)}), a);
}

TEST_P(ConfigRows, WrongValuesAreRefusedFromEverySource) {
  for (const std::string& bad : values().bad) {
    EXPECT_THAT(Refused({Flag(bad)}), HasSubstr(name() == "config" ? bad : "flag --" + name()));
    if (!GetParam().environment.empty()) {
      EXPECT_THAT(Refused({}, {Variable(bad)}),
                  HasSubstr(name() == "config" ? bad : GetParam().environment));
    }
    if (!GetParam().key.empty() && bad.find('\n') == std::string::npos && bad.front() != ' ') {
      EXPECT_THAT(Refused({"--config", File(bad)}), HasSubstr("nicmon.conf:2: " + name() + ": "));
    }
    if (!GetParam().accepts.empty() && name() != "config") {
      EXPECT_THAT(Refused({Flag(bad)}), HasSubstr(GetParam().accepts));
    }
  }
}

TEST_P(ConfigRows, AWrongValueIsRefusedEvenWhereAStrongerSourceReplacesIt) {
  if (GetParam().key.empty() || name().ends_with("-file") || name().ends_with("-root") ||
      name().ends_with("-group") || name().ends_with("-dir")) {
    return;  // what has to exist is looked at for the strongest source only
  }
  EXPECT_THAT(Refused({Flag(values().good[0])}, {Variable(values().bad[0])}),
              HasSubstr(GetParam().environment));
}

TEST_P(ConfigRows, AnEmptyValueIsRefusedButAnEmptyVariableIsNotSet) {
  if (!GetParam().environment.empty()) {
    EXPECT_EQ(InForce({}, {Variable("")}), InForce({}));
  }
  EXPECT_THAT(Refused({Flag("")}), HasSubstr("flag " + GetParam().flag + ": the value is empty"));
  if (!GetParam().value_optional) {
    EXPECT_THAT(Refused({GetParam().flag, ""}), HasSubstr("the value is empty"));
    EXPECT_THAT(Refused({GetParam().flag}), HasSubstr(GetParam().flag));
  }
  if (!GetParam().key.empty()) {
    EXPECT_THAT(Refused({"--config", File("  # nothing")}), HasSubstr("the value is empty"));
  }
}

TEST_P(ConfigRows, TheDefaultOfTheTableIsThatOfTheStruct) {
  if (GetParam().default_text.empty() || name() == "sysfs-root") {
    return;  // has no default, or one that depends on the machine
  }
  EXPECT_EQ(InForce({}), GetParam().default_text);
  const Config without = Read({});
  const Config with = Read({Flag(GetParam().default_text)});
  const auto fields = [](const Config& c) {
    return std::tie(c.listen_host, c.listen_port, c.admin_socket, c.admin_allow_plaintext,
                    c.all_functions, c.expect_ports, c.expect_ports_auto, c.tick,
                    c.counters_interval, c.settle, c.metrics_profile, c.log_level, c.log_format,
                    c.simulate_force);
  };
  EXPECT_TRUE(fields(without) == fields(with));
}

std::vector<FlagText> RowsWithValues() {
  auto rows = FlagTexts();
  std::erase_if(rows, [](const FlagText& row) { return row.value_name.empty(); });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, ConfigRows, ::testing::ValuesIn(RowsWithValues()),
                         [](const auto& row) {
                           std::string name = row.param.flag.substr(2);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Config, Defaults) {
  const Config config = Read({});
  EXPECT_EQ(config.listen_host, "::");
  EXPECT_EQ(config.listen_port, 9879);
  EXPECT_FALSE(config.listen_given);
  EXPECT_EQ(config.admin_socket, "/run/nicmon/admin.sock");
  EXPECT_FALSE(config.admin_socket_given);
  EXPECT_EQ(config.sysfs_root, "/sys");
  EXPECT_FALSE(config.sysfs_root_given);
  EXPECT_EQ(config.tick, std::chrono::seconds(1));
  EXPECT_EQ(config.settle, Duration(0));
  EXPECT_FALSE(config.simulate.has_value());
  EXPECT_THAT(config.expect_speed, IsEmpty());
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(Config, Listen) {
  Config config = Read({"--listen", "[2001:db8::1]:80"});
  EXPECT_EQ(config.listen_host, "2001:db8::1");
  EXPECT_EQ(config.listen_port, 80);
  EXPECT_TRUE(config.listen_given);
  config = Read({"--listen", "0.0.0.0:0"});
  EXPECT_EQ(config.listen_host, "0.0.0.0");
  EXPECT_EQ(config.listen_port, 0);
  config = Read({"--listen", "[10.0.0.1]:80"});  // brackets fit both families
  EXPECT_EQ(config.listen_host, "10.0.0.1");
  config = Read({"--listen", ":9100"});  // any address: IPv4 will do where there is no IPv6
  EXPECT_EQ(config.listen_host, "::");
  EXPECT_EQ(config.listen_port, 9100);
  EXPECT_FALSE(config.listen_given);
}

TEST(Config, AdminSocketNone) {
  const Config config = Read({"--admin-socket", "none"});
  EXPECT_EQ(config.admin_socket, "");
  EXPECT_TRUE(config.admin_socket_given);
}

TEST(Config, Durations) {
  EXPECT_EQ(Read({"--tick", "500ms"}).tick, std::chrono::milliseconds(500));
  EXPECT_EQ(Read({"--settle", "2m"}).settle, std::chrono::minutes(2));
  EXPECT_EQ(Read({"--settle", "1h"}).settle, std::chrono::hours(1));
  EXPECT_EQ(Read({"--settle", "1d"}).settle, std::chrono::hours(24));
}

TEST(Config, ExpectPorts) {
  EXPECT_EQ(Read({"--expect-ports", "8"}).expect_ports, 8U);
  const Config config = Read({"--expect-ports", "8", "--expect-ports", "auto"});
  EXPECT_TRUE(config.expect_ports_auto);
  EXPECT_EQ(config.expect_ports, 0U);
  EXPECT_FALSE(Read({"--expect-ports", "auto", "--expect-ports", "8"}).expect_ports_auto);
}

TEST(Config, ExpectSpeedSelectsAndSplits) {
  const Config config = Read({"--expect-speed", "400", "--expect-speed",
                              "name:mlx5_(0|1){1,2}=200 board:MT_[,=(]+=2.5,link:eth=100"});
  ASSERT_EQ(config.expect_speed.size(), 4U);
  EXPECT_EQ(config.expect_speed[0].by, ExpectSpeed::By::kAll);
  EXPECT_EQ(config.expect_speed[0].bps, 400'000'000'000U);
  const ExpectSpeed& name = config.expect_speed[1];
  EXPECT_EQ(name.by, ExpectSpeed::By::kName);
  EXPECT_TRUE(name.matches("mlx5_01"));
  EXPECT_FALSE(name.matches("mlx5_0x")) << "a pattern matches the whole name";
  EXPECT_EQ(config.expect_speed[2].by, ExpectSpeed::By::kBoard);
  EXPECT_TRUE(config.expect_speed[2].matches("MT_,=("));
  EXPECT_EQ(config.expect_speed[2].bps, 2'500'000'000U);
  EXPECT_EQ(config.expect_speed[3].by, ExpectSpeed::By::kLink);
  EXPECT_TRUE(config.expect_speed[3].matches("eth"));
  EXPECT_FALSE(config.expect_speed[3].matches("ib"));
}

TEST(Config, AStrongerListReplacesAWeakerOne) {
  const TempDir dir;
  const auto file = dir.Write("f", "expect-speed = 100\nexpect-speed = link:ib=200\n");
  EXPECT_EQ(Read({"--config", file}).expect_speed.size(), 2U);
  const Config config = Read({"--config", file, "--expect-speed", "50"});
  ASSERT_EQ(config.expect_speed.size(), 1U);
  EXPECT_EQ(config.expect_speed[0].bps, 50'000'000'000U);
}

TEST(Config, TheLastOfRepeatedFlagsWinsAndAllAreChecked) {
  EXPECT_EQ(Read({"--tick", "2s", "--tick=3s"}).tick, std::chrono::seconds(3));
  EXPECT_THAT(Refused({"--tick", "0s", "--tick", "3s"}), HasSubstr("\"0s\""));
}

TEST(Config, NodeName) {
  EXPECT_EQ(Read({}, {"NODE_NAME=k8s-7"}).node_name, "k8s-7");
  EXPECT_EQ(Read({}, {"NODE_NAME=k8s-7", "NICMON_NODE_NAME=x"}).node_name, "x");
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  EXPECT_EQ(Read({}, {"NODE_NAME="}).node_name, host.data());
  EXPECT_THAT(Refused({}, {"NODE_NAME=a\nb"}), HasSubstr("environment variable NODE_NAME"));
}

TEST(Config, Simulate) {
  EXPECT_EQ(Read({"--simulate"}).simulate, "");
  EXPECT_EQ(Effective(Read({"--simulate"})).at("simulate"), "true");
  EXPECT_EQ(Read({"--simulate=devices=3"}).simulate, "devices=3");
  EXPECT_FALSE(Read({"--simulate"}).simulate_force);
  EXPECT_TRUE(Read({"--simulate-force", "--simulate"}).simulate_force);
  EXPECT_THAT(Read({}, {"NICMON_SIMULATE=devices=3"}).warnings,
              ::testing::ElementsAre(HasSubstr("NICMON_SIMULATE")));
}

TEST(Config, SwitchesTakeAValueOnlyWithEquals) {
  EXPECT_TRUE(Read({"--admin-allow-plaintext"}).admin_allow_plaintext);
  EXPECT_FALSE(Read({"--admin-allow-plaintext=no"}).admin_allow_plaintext);
  EXPECT_THAT(Refused({"--admin-allow-plaintext", "no"}), HasSubstr("\"no\""));
}

TEST(Config, UnknownVariablesOnlyWarn) {
  const Config config =
      Read({}, {"NICMON_SERVICE_HOST=10.0.0.1", "NICMON_PORT=tcp://10.0.0.1:9879", "NICMON_TICK=2s",
                "NICMON_LISTN=secret", "NICMON=x", "PATH=/bin", "NICMON_CONFIG="});
  EXPECT_EQ(config.tick, std::chrono::seconds(2));
  EXPECT_EQ(config.warnings.size(), 3U);
  EXPECT_THAT(config.warnings, Each(AllOf(StartsWith("environment variable NICMON_"),
                                          ::testing::Not(HasSubstr("secret")))));
}

TEST(Config, UnknownFlagsAndArguments) {
  EXPECT_THAT(Refused({"--bogus"}), HasSubstr("unknown flag \"--bogus\""));
  EXPECT_THAT(Refused({"--bogus=1", "--help"}), HasSubstr("--bogus"));
  EXPECT_THAT(Refused({"--lis", ":1"}), HasSubstr("--lis")) << "no guessing of abbreviations";
  EXPECT_THAT(Refused({"-x"}), HasSubstr("-x"));
  EXPECT_THAT(Refused({"ctl"}), HasSubstr("unexpected argument \"ctl\""));
  EXPECT_THAT(Refused({"a\nb"}), HasSubstr("a\\nb"));
}

TEST(Config, HelpAndVersion) {
  for (const std::string flag : {"--help", "-h"}) {
    const CommandLine help = ReadLine({flag, "--tick", "wrong"});
    EXPECT_EQ(help.action, Action::kExit);
    EXPECT_EQ(help.exit_code, 0);
    for (const FlagText& row : FlagTexts()) {
      EXPECT_THAT(help.output, HasSubstr("  " + row.flag));
    }
  }
  const CommandLine version = ReadLine({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, StartsWith("nicmon " NICMON_VERSION "\nrevision "));
}

TEST(Config, CheckConfigPrintsAFileThatGivesTheSame) {
  const TempDir dir;
  const Strings flags = {"--listen=127.0.0.1:0", "--device-include", "a #b",    "--settle=2m",
                         "--expect-speed=400",   "--expect-speed",   "name:a=1"};
  Strings checked = flags;
  checked.push_back("--check-config");
  const CommandLine line = ReadLine(checked);
  EXPECT_EQ(line.action, Action::kCheckConfig);
  EXPECT_THAT(line.output, HasSubstr("settle = 2m  # from flag\n"));
  const CommandLine again = ReadLine({"--config", dir.Write("f", line.output)});
  EXPECT_EQ(again.action, Action::kRun) << again.output;
  auto expected = Effective(Read(flags));
  expected["config"] = dir.path() + "/f";
  EXPECT_EQ(Effective(again.config), expected);
}

TEST(Config, FileFromTheEnvironment) {
  const TempDir dir;
  const auto a = dir.Write("a", "tick = 2s\n");
  const auto b = dir.Write("b", "tick = 3s\n");
  EXPECT_EQ(Read({}, {"NICMON_CONFIG=" + a}).tick, std::chrono::seconds(2));
  EXPECT_EQ(Read({"--config", b}, {"NICMON_CONFIG=" + a}).tick, std::chrono::seconds(3));
}

TEST(ConfigFile, Syntax) {
  const TempDir dir;
  const auto file = dir.Write("f",
                              "\xef\xbb\xbf# comment = 1\r\n\r\n  tick=2s   # why\r\n"
                              "\tdevice-include =\"a #\\d b\" # quoted\n"
                              "device-exclude = c#d\n"
                              "log-level = debug");
  const Config config = Read({"--config", file});
  EXPECT_EQ(config.tick, std::chrono::seconds(2));
  EXPECT_EQ(config.device_include, "a #\\d b");
  EXPECT_EQ(config.device_exclude, "c#d");
  EXPECT_EQ(config.log_level, log::Level::kDebug);
}

TEST(ConfigFile, ErrorsNameTheLine) {
  const TempDir dir;
  const auto refused = [&](const std::string& text) {
    return Refused({"--config", dir.Write("f", text)});
  };
  EXPECT_THAT(refused("\n\ntick\n"), HasSubstr("/f:3: \"tick\" is no \"key = value\" line"));
  EXPECT_THAT(refused("= 5\n"), HasSubstr("/f:1: "));
  EXPECT_THAT(refused("tick = 1s\nbogus = 1\n"), HasSubstr("/f:2: unknown key \"bogus\""));
  EXPECT_THAT(refused("--tick = 1s\n"), HasSubstr("unknown key"));
  EXPECT_THAT(refused("simulate = devices=1\n"), HasSubstr("unknown key \"simulate\""));
  EXPECT_THAT(refused("config = x\n"), HasSubstr("unknown key \"config\""));
  EXPECT_THAT(refused("tick = 1s\n\ntick = 2s\n"), HasSubstr("/f:3: tick: given twice"));
  EXPECT_THAT(refused("tick = \"1s\n"), HasSubstr("/f:1: tick: a quoted value"));
  EXPECT_THAT(refused("tick = \"1s\" x\n"), HasSubstr("/f:1: tick: a quoted value"));
  EXPECT_THAT(refused("tick = 1s\ntick"), HasSubstr("/f:2: "));
  EXPECT_THAT(refused("expect-speed = 1\nexpect-speed = x\n"), HasSubstr("/f:2: expect-speed: "));
  EXPECT_THAT(refused("[nicmon]\n"), HasSubstr("/f:1: "));
  EXPECT_THAT(refused(std::string("a\0b = 1\n", 8)), HasSubstr("a\\u0000b"));
  EXPECT_THAT(refused(std::string(2 << 20, '#')), HasSubstr("larger than 1 MiB"));
}

TEST(Config, AFileThatCannotBeReadIsNamedWithItsSource) {
  EXPECT_THAT(Refused({"--config=/nonexistent/x"}),
              AllOf(HasSubstr("flag --config"), HasSubstr("ENOENT"), HasSubstr("give a readable")));
  EXPECT_THAT(Refused({}, {"NICMON_CONFIG=/nonexistent/x"}),
              HasSubstr("environment variable NICMON_CONFIG: \"/nonexistent/x\""));
}

TEST(Config, AFlagWithoutItsValueSaysWhatIsAccepted) {
  EXPECT_THAT(Refused({"--log-level"}),
              AllOf(HasSubstr("flag --log-level"), HasSubstr("debug, info, warning or error")));
}

TEST(Config, ACommandTakesNoValue) {
  for (const char* flag : {"--check-config=false", "--version=3", "--help=maybe"}) {
    EXPECT_THAT(Refused({flag}), HasSubstr("takes no value")) << flag;
  }
  EXPECT_EQ(ReadLine({"--check-config"}).action, Action::kCheckConfig);
}

TEST(Config, WhatAFileHoldsIsCheckedToo) {
  TempDir directory;
  const std::string file = directory.Write("tokens", "nonsense\n");
  const std::array arguments = {"nicmon", "--check-config", static_cast<const char*>(nullptr)};
  const std::string variable = "NICMON_ADMIN_TOKEN_FILE=" + file;
  const std::array environment = {variable.c_str(), static_cast<const char*>(nullptr)};
  std::string seen;
  const CommandLine line = ReadCommandLine(2, arguments.data(), environment.data(),
                                           {{"admin-token-file", [&](const std::string& path) {
                                               seen = path;
                                               return std::string("line 1: no colon");
                                             }}});
  EXPECT_EQ(seen, file);
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.output, AllOf(HasSubstr("environment variable NICMON_ADMIN_TOKEN_FILE"),
                                 HasSubstr("line 1: no colon"), HasSubstr("name:sha256:HEX")));
}

}  // namespace
}  // namespace nicmon
