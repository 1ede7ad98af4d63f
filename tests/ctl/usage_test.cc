// What goes wrong before anybody is asked, and what is printed of it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "ctl/ctl_run.h"
#include "nicmon/ctl/ctl.h"

namespace nicmon {
namespace {

using ::testing::AllOf;
using testing::Ctl;
using testing::CtlResult;
using testing::Daemon;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::Strings;

TEST(CtlUsage, ErrorsAreOneLineAndExit2) {
  const std::vector<std::pair<Strings, std::string>> cases = {
      {{}, "which command?"},
      {{"reset", "mlx5_0/1"}, "unknown command \"reset\", give one of ports, devices"},
      {{"ports", "--bogus"}, "unknown flag \"--bogus\""},
      {{"ports", "mlx5_0"}, "is no port, give DEVICE/PORT"},
      {{"ports", "mlx5_0/1", "mlx5_1/1"}, "unexpected argument \"mlx5_1/1\""},
      {{"holds", "mlx5_0"}, "unexpected argument \"mlx5_0\""},
      {{"ports", "--reason=x"}, "--reason does not go with ports"},
      {{"pause"}, "which one?"},
      {{"pause", "mlx5_0/1"}, "pause needs --reason"},
      {{"pause", "mlx5_0/1", "--reason"}, "--reason"},
      {{"pause", "mlx5_0/1", "--reason=", "x"}, "--reason: the value is empty"},
      {{"pause", "mlx5_0/1", "--reason", ""}, "--reason: the value is empty"},
      {{"pause", "mlx5_0/1", "--reason=x", "--reason=y"}, "--reason: given more than once"},
      {{"pause", "mlx5_0/1", "--reason=x", "--ttl=1h", "--until=x"}, "--ttl and --until"},
      {{"pause", "mlx5_0/1", "--reason=x", "--replace=no"}, "--replace: it takes no value"},
      {{"requery"}, "which one?"},
      {{"probe"}, "which one? usage: nicmon ctl probe DEVICE/PORT, such as mlx5_0/1"},
      {{"probe", "mlx5_0"}, "is no port, give DEVICE/PORT"},
      {{"forget"}, "which one? usage: nicmon ctl forget DEVICE/PORT, such as mlx5_0/1"},
      {{"accept-speed", "mlx5_0"}, "is no port, give DEVICE/PORT"},
      {{"delete-hold"}, "which one? usage: nicmon ctl delete-hold HOLD, such as h"},
      {{"log-level"}, "which one? usage: nicmon ctl log-level LEVEL, debug, info"},
      {{"audit", "--type=link"}, "--type does not go with audit"},
      {{"release", "--reason=x"}, "give one device, or --all"},
      {{"release", "mlx5_0", "--all", "--reason=x"}, "give one device, or --all"},
      {{"release", "mlx5_0/1", "--reason=x"}, "is a port, give its device"},
      {{"reopen"}, "give one device, or --all"},
      {{"ports", "--socket=/a", "--url=http://b"}, "--socket and --url"},
      {{"ports", "--token-file=/a"}, "--token-file goes with --url"},
      {{"ports", "--url=node7:9879"}, "give http://HOST:PORT"},
  };
  for (const auto& [arguments, expected] : cases) {
    const CtlResult result = Ctl(arguments);
    EXPECT_EQ(result.code, 2) << expected;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, AllOf(StartsWith("nicmon ctl: "), HasSubstr(expected)));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(CtlUsage, HelpNamesEveryCommandAndItsFlags) {
  const CtlResult all = Ctl({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const CtlCommandText& command : CtlCommandTexts()) {
    EXPECT_THAT(all.out, HasSubstr("\n  " + command.name));
    const CtlResult help = Ctl({command.name, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, StartsWith("Usage: nicmon ctl " + command.name));
    for (const std::string& flag : command.flags) {
      EXPECT_THAT(help.out, HasSubstr("\n  " + flag + " ")) << command.name;
    }
  }
  for (const std::string& flag : CtlCommonFlags()) {
    EXPECT_THAT(all.out, HasSubstr("\n  " + flag + " "));
  }
  EXPECT_THAT(testing::RunProgram({NICMON_PROGRAM, "--help"}).out, HasSubstr("nicmon ctl --help"));
}

TEST(CtlUsage, TheDocumentationHasEveryCommandAndFlag) {
  std::ostringstream text;
  text << std::ifstream(NICMON_SOURCE_DIR "/docs/ctl.md").rdbuf();
  const std::string page = text.str();
  const auto documented = [&](const std::string& name) {
    return page.find("`" + name + "`") != std::string::npos ||
           page.find("`" + name + " ") != std::string::npos;
  };
  for (const CtlCommandText& command : CtlCommandTexts()) {
    EXPECT_TRUE(documented(command.name)) << command.name;
    for (const std::string& flag : command.flags) {
      EXPECT_TRUE(documented(flag)) << flag;
    }
  }
  for (const std::string& flag : CtlCommonFlags()) {
    EXPECT_TRUE(documented(flag)) << flag;
  }
}

TEST(CtlUsage, WhatCannotBeWrittenIsNoSuccess) {
  const Daemon daemon;
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const CtlResult result =
      testing::RunProgram({NICMON_PROGRAM, "ctl", "check"}, {daemon.environment()}, full.get());
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("cannot write to standard output: ENOSPC"));
}

}  // namespace
}  // namespace nicmon
