// The completion script in a real bash, against the tables of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "ctl/ctl_run.h"
#include "nicmon/config/flags.h"
#include "nicmon/ctl/ctl.h"

namespace nicmon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::Strings;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kScript = R"(
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_nicmon "$1"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
)";

/// What bash would offer for the last of these words behind "nicmon".
Strings Complete(const Strings& words, const std::string& variable = "LANG=C",
                 const std::string& script = NICMON_SOURCE_DIR "/deploy/completion/nicmon.bash") {
  Strings arguments = {"/bin/bash", "-c", kScript, "completion", script, NICMON_PROGRAM};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const auto result = testing::RunProgram(arguments, {variable, "PATH=/usr/bin:/bin"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  std::istringstream lines(result.out);
  Strings offered;
  for (std::string line; std::getline(lines, line);) {
    offered.push_back(line);
  }
  return offered;
}

TEST(Completion, OffersEveryCommandWithItsFlags) {
  Strings commands;
  for (const CtlCommandText& command : CtlCommandTexts()) {
    commands.push_back(command.name);
    Strings flags = CtlCommonFlags();
    flags.insert(flags.end(), command.flags.begin(), command.flags.end());
    EXPECT_THAT(Complete({"ctl", command.name, "--"}), UnorderedElementsAreArray(flags))
        << command.name;
  }
  EXPECT_THAT(Complete({"ctl", ""}), UnorderedElementsAreArray(commands));
  EXPECT_THAT(Complete({"ctl", "--socket", "/x", "pa"}), ElementsAre("pause"));
}

TEST(Completion, OffersTheDaemonsFlags) {
  Strings flags;
  for (const FlagText& flag : FlagTexts()) {
    flags.push_back(flag.flag);
  }
  EXPECT_THAT(Complete({"--"}), UnorderedElementsAreArray(flags));
  EXPECT_THAT(Complete({"c"}), ElementsAre("ctl"));
}

TEST(Completion, OffersPortsAndDevicesOfTheNicmonThatRuns) {
  const testing::Daemon daemon;
  const std::string env = daemon.environment();
  EXPECT_THAT(Complete({"ctl", "pause", ""}, env), ElementsAre("mlx5_0/1", "mlx5_1/1"));
  EXPECT_THAT(Complete({"ctl", "pause", "--reason", "x", "mlx5_1"}, env), ElementsAre("mlx5_1/1"));
  EXPECT_THAT(Complete({"ctl", "release", "--all", "m"}, env), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(Complete({"ctl", "requery", "mlx5_1"}, env), ElementsAre("mlx5_1/1", "mlx5_1"));
  EXPECT_THAT(Complete({"ctl", "events", "--device", ""}, env), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(Complete({"ctl", "audit", "--device", ""}, env), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(Complete({"ctl", "probe", "mlx5_1"}, env), ElementsAre("mlx5_1/1"));
  EXPECT_THAT(Complete({"ctl", "forget", "mlx5_1"}, env), ElementsAre("mlx5_1/1"));
  EXPECT_THAT(Complete({"ctl", "accept-speed", "mlx5_1"}, env), ElementsAre("mlx5_1/1"));
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_0/1", "--reason=x"}).code, 0);
  EXPECT_THAT(Complete({"ctl", "delete-hold", ""}, env), ElementsAre(StartsWith("h")));
  EXPECT_THAT(Complete({"ctl", "--socket", daemon.socket(), "devices", ""}),
              ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(Complete({"ctl", "--socket", "=", daemon.socket(), "devices", ""}),
              ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(Complete({"ctl", "pause", ""}, "NICMON_ADMIN_SOCKET=none"), IsEmpty());
}

TEST(Completion, OffersValues) {
  EXPECT_THAT(Complete({"ctl", "select", "--format", ""}), ElementsAre("nccl", "ucx"));
  EXPECT_THAT(Complete({"ctl", "select", "--sort", "="}), ElementsAre("pci", "estimate"));
  EXPECT_THAT(Complete({"ctl", "pause", "--reason", ""}), IsEmpty());
  EXPECT_THAT(Complete({"ctl", "log-level", "d"}), ElementsAre("debug"));
  EXPECT_THAT(Complete({"ctl", "ports", "--socket", "/dev/nul"}), ElementsAre("/dev/null"));
}

TEST(Completion, IsInstalledWhereBashLooks) {
  const testing::TempDir dir;
  const auto install =
      testing::RunProgram({NICMON_CMAKE, "--install", NICMON_BUILD_DIR, "--prefix", dir.path()},
                          {"PATH=/usr/bin:/bin"});
  ASSERT_EQ(install.code, 0) << install.err;
  EXPECT_THAT(Complete({"c"}, "LANG=C", dir.path() + "/share/bash-completion/completions/nicmon"),
              ElementsAre("ctl"));
  EXPECT_EQ(testing::RunProgram({dir.path() + "/bin/nicmon", "--version"}).code, 0);
}

}  // namespace
}  // namespace nicmon
