#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "config/read.h"
#include "config/temp_file.h"
#include "nicmon/config/flags.h"

// What holds for every row of the flag table.
namespace nicmon {

/// For names and messages of parametrised tests.
void PrintTo(const FlagText& row, std::ostream* out) {
  *out << row.flag;
}

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

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
        {"web-config-file", {{a, b, empty}, {dir_.path() + "/none", dir_.path()}}},
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
        {"data-path", {{"always", "never", "on-demand"}, {"sometimes", "Always"}}},
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
                    c.counters_interval, c.settle, c.data_path, c.metrics_profile, c.log_level,
                    c.log_format, c.simulate_force);
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

}  // namespace
}  // namespace nicmon
