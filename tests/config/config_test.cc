#include "nicmon/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

#include "config/read.h"
#include "nicmon/config/flags.h"

// Flags and variables one by one.
namespace nicmon {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Action = CommandLine::Action;

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

}  // namespace
}  // namespace nicmon
