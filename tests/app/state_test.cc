#include "nicmon/app/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "nicmon/monitor/holds_file.h"
#include "testing/log_capture.h"
#include "testing/temp_tree.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config WithStateDir(const std::string& path, bool given) {
  Config config;
  config.state_dir = path;
  config.state_dir_given = given;
  return config;
}

TEST(OpenStateTest, ADefaultThatCannotBeUsedIsDoneWithoutOneThatWasAskedForIsAnError) {
  testing::LogCapture capture;
  EXPECT_EQ(OpenState(WithStateDir("/proc/nicmon", false)), nullptr);
  EXPECT_THROW(OpenState(WithStateDir("/proc/nicmon", true)), std::runtime_error);
  EXPECT_EQ(OpenState(WithStateDir("", true)), nullptr);
  EXPECT_THAT(capture.Records(),
              ElementsAre(HasSubstr("WARNING holds and releases are kept in memory"),
                          HasSubstr("INFO holds and releases are kept in memory")));
}

TEST(OpenStateTest, ADefaultThatAnotherProcessHasIsAnError) {
  const testing::TempTree tree;
  const auto first = OpenState(WithStateDir(tree.root(), false));
  ASSERT_NE(first, nullptr);
  EXPECT_THROW(OpenState(WithStateDir(tree.root(), false)), std::runtime_error);
}

TEST(OpenStateTest, SimulatedDevicesHaveNoStateUnlessItIsAskedFor) {
  const testing::TempTree tree;
  Config config = WithStateDir(tree.root(), false);
  config.simulate = "";
  EXPECT_EQ(OpenState(config), nullptr);
  config.state_dir_given = true;
  EXPECT_NE(OpenState(config), nullptr);
}

TEST(HoldsHomeTest, ReadsWhatTheHoldsAreBoundTo) {
  const testing::TempTree tree;
  HoldsHome home = MakeHoldsHome(nullptr, tree.root());
  EXPECT_EQ(home.file, nullptr);
  EXPECT_EQ(home.machine_id, "");
  EXPECT_EQ(home.boot_id, "");
  tree.File("etc/machine-id", "abc\n");
  tree.File("proc/sys/kernel/random/boot_id", "1-2-3\n");
  home =
      MakeHoldsHome(std::make_shared<const StateDirectory>(tree.Path("s").string()), tree.root());
  EXPECT_EQ(home.machine_id, "abc");
  EXPECT_EQ(home.boot_id, "1-2-3");
  EXPECT_EQ(home.file->path(), tree.Path("s/holds.json").string());
}

TEST(HoldsHomeTest, EachProcessHasASeriesOfIdsOfItsOwn) {
  const testing::TempTree tree;
  const std::string one = MakeHoldsHome(nullptr, tree.root()).id_series;
  EXPECT_THAT(one, ::testing::MatchesRegex("[2-9b-z][2-9b-z][2-9b-z][2-9b-z][2-9b-z]"));
  EXPECT_NE(MakeHoldsHome(nullptr, tree.root()).id_series, one);
}

}  // namespace
}  // namespace nicmon
