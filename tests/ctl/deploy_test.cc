// The worked examples of deploy/, run as Slurm and node-problem-detector would run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ctl/ctl_run.h"

namespace nicmon {
namespace {

using ::testing::AllOf;
using testing::CtlResult;
using testing::Daemon;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Strings;

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The health check with nicmon, and stand-ins for what Slurm and syslog have, first on its path.
class SlurmNode {
 public:
  SlurmNode() {
    Script("scontrol",
           "echo \"$@\" >>" + calls_ +
               "\n[ \"$2\" = show ] && { echo \"NodeName=$4 State=$STATE ThreadsPerCore=1\"; }\n"
               "exit 0\n");
    Script("logger", "echo logger \"$@\" >>" + calls_ + "\n");
    std::filesystem::create_symlink(NICMON_PROGRAM, dir_.path() + "/nicmon");
  }
  /// Exit code of one run; what it called on the way is in calls().
  int Run(const std::string& socket, const std::string& state, const std::string& check = "") {
    std::filesystem::remove(calls_);
    return testing::RunProgram(
               {NICMON_SOURCE_DIR "/deploy/slurm/nicmon-health-check"},
               {"PATH=" + dir_.path() + ":/usr/bin:/bin", "NICMON_ADMIN_SOCKET=" + socket,
                "SLURMD_NODENAME=gpu7", "STATE=" + state,
                "NICMON_HEALTH_CHECK_CONFIG=" + dir_.Write("config", check)})
        .code;
  }
  std::string calls() const { return Read(calls_); }

 private:
  void Script(const std::string& name, const std::string& text) {
    const std::string path = dir_.Write(name, "#!/bin/sh\n" + text);
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
  }
  const testing::TempDir dir_;
  const std::string calls_ = dir_.path() + "/calls";
};

TEST(DeploySlurm, DrainsANodeWithAProblemOnce) {
  const Daemon daemon;
  SlurmNode node;
  EXPECT_EQ(node.Run(daemon.socket(), "IDLE"), 0);
  EXPECT_THAT(node.calls(), IsEmpty());
  EXPECT_EQ(node.Run(daemon.socket(), "IDLE", "CHECK=(--expect-ports 8)\n"), 0);
  EXPECT_THAT(node.calls(), HasSubstr("2 of 8 ports serve"));
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(daemon.Becomes({"check"}, 1));
  EXPECT_EQ(node.Run(daemon.socket(), "MIXED"), 0);
  EXPECT_THAT(node.calls(), AllOf(HasSubstr("logger"),
                                  HasSubstr("\nupdate NodeName=gpu7 State=DRAIN "
                                            "Reason=nicmon: 1 of 2 ports serve: mlx5_1/1 down\n")));
  EXPECT_EQ(node.Run(daemon.socket(), "IDLE+DRAIN"), 0);
  EXPECT_THAT(node.calls(), AllOf(HasSubstr("show node"), Not(HasSubstr("update"))));
}

TEST(DeploySlurm, LeavesTheNodeAloneWhenNicmonCannotBeAsked) {
  SlurmNode node;
  EXPECT_EQ(node.Run("/nonexistent/admin.sock", "IDLE"), 0);
  EXPECT_THAT(node.calls(), AllOf(HasSubstr("logger"), HasSubstr("not known: UNKNOWN: cannot use"),
                                  Not(HasSubstr("update"))));
}

/// The monitor of deploy/node-problem-detector by that program's rules: exit 0 is well, 1 the
/// problem, everything else unknown; of standard output max_output_length bytes are kept.
class ProblemDetector {
 public:
  ProblemDetector()
      : config_(nlohmann::json::parse(
            Read(NICMON_SOURCE_DIR "/deploy/node-problem-detector/nicmon-monitor.json"))) {}

  const nlohmann::json& config() const { return config_; }
  CtlResult Run(const std::string& environment) const {
    const auto& rule = config_["rules"][0];
    EXPECT_EQ(rule["path"], "/usr/local/bin/nicmon");
    Strings arguments = {NICMON_PROGRAM};
    for (const auto& argument : rule["args"]) {
      arguments.push_back(argument);
    }
    CtlResult result = testing::RunProgram(arguments, {environment});
    EXPECT_LE(result.out.size(), config_["pluginConfig"]["max_output_length"].get<size_t>());
    return result;
  }

 private:
  const nlohmann::json config_;
};

TEST(DeployNodeProblemDetector, ConfigurationHolds) {
  const ProblemDetector detector;
  const auto& config = detector.config();
  EXPECT_EQ(config["plugin"], "custom");
  ASSERT_EQ(config["rules"].size(), 1u);
  // A permanent rule needs a condition of the same name, and no more time than all rules get.
  EXPECT_EQ(config["rules"][0]["type"], "permanent");
  EXPECT_EQ(config["rules"][0]["condition"], config["conditions"][0]["type"]);
  EXPECT_EQ(config["rules"][0]["timeout"], config["pluginConfig"]["timeout"]);
}

TEST(DeployNodeProblemDetector, TellsWellProblemAndUnknownApart) {
  const ProblemDetector detector;
  const Daemon daemon;
  EXPECT_EQ(detector.Run(daemon.environment()).code, 0);
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(daemon.Becomes({"check"}, 1));
  const CtlResult problem = detector.Run(daemon.environment());
  EXPECT_EQ(problem.code, 1);
  EXPECT_EQ(problem.out, "PROBLEM: 1 of 2 ports serve: mlx5_1/1 down\n");
  const CtlResult unknown = detector.Run("NICMON_ADMIN_SOCKET=/nonexistent/admin.sock");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.out, HasSubstr("UNKNOWN: "));
}

}  // namespace
}  // namespace nicmon
