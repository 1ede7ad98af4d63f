#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "config/read.h"
#include "config/temp_file.h"

// The file of --config, and files that others name.
namespace nicmon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempDir;
using Action = CommandLine::Action;

TEST(Config, AStrongerListReplacesAWeakerOne) {
  const TempDir dir;
  const auto file = dir.Write("f", "expect-speed = 100\nexpect-speed = link:ib=200\n");
  EXPECT_EQ(Read({"--config", file}).expect_speed.size(), 2U);
  const Config config = Read({"--config", file, "--expect-speed", "50"});
  ASSERT_EQ(config.expect_speed.size(), 1U);
  EXPECT_EQ(config.expect_speed[0].bps, 50'000'000'000U);
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
