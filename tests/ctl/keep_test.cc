// What is kept of ports and holds, and what nicmon itself is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctl/ctl_run.h"
#include "testing/wait_for.h"

namespace nicmon {
namespace {

using ::testing::AllOf;
using testing::CtlResult;
using testing::Daemon;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CtlKeeps, AcceptSpeedMakesTodaysSpeedTheBaseline) {
  const Daemon daemon;
  EXPECT_EQ(daemon.Ctl({"accept-speed", "mlx5_1/1"}).out,
            "mlx5_1/1 has 400 Gb/s as its baseline, as before\n");
  daemon.Simulate(R"({"device":"mlx5_1","port":1,"set":{"effective_speed_gbps":100}})");
  ASSERT_TRUE(testing::WaitFor([&] {
    return daemon.Ctl({"requery", "mlx5_1/1"}).out.find("100 Gb/s") != std::string::npos;
  }));
  const CtlResult accepted = daemon.Ctl({"accept-speed", "mlx5_1/1", "--by=ann", "--reason=cable"});
  EXPECT_EQ(accepted.code, 0);
  EXPECT_EQ(accepted.out, "mlx5_1/1 has 100 Gb/s as its baseline, instead of 400\n");
  EXPECT_THAT(daemon.Ctl({"audit"}).out,
              AllOf(HasSubstr("accept_speed  mlx5_1/1"), HasSubstr("  ann "), HasSubstr("cable")));
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(daemon.Becomes({"requery", "mlx5_1/1"}, 1));
  const CtlResult down = daemon.Ctl({"accept-speed", "mlx5_1/1"});
  EXPECT_EQ(down.code, 1);
  EXPECT_THAT(down.err, HasSubstr("no speed now"));
}

TEST(CtlKeeps, ForgetStopsRequiringAPortThatIsGone) {
  const Daemon daemon({"--simulate=devices=2", "--expect-ports=auto"});
  const CtlResult up = daemon.Ctl({"forget", "mlx5_1/1"});
  EXPECT_EQ(up.code, 1);
  EXPECT_THAT(up.err, HasSubstr("is up"));
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(daemon.Becomes({"check"}, 1));
  EXPECT_EQ(daemon.Ctl({"forget", "mlx5_1/1"}).out, "mlx5_1/1 is not required any more\n");
  EXPECT_EQ(daemon.Ctl({"forget", "mlx5_1/1"}).out, "mlx5_1/1 was not required\n");
  EXPECT_EQ(daemon.Ctl({"check"}).code, 0);
  daemon.Simulate(R"({"device":"mlx5_1","unplug":true})");
  ASSERT_TRUE(testing::WaitFor([&] {
    return daemon.Ctl({"devices", "mlx5_1"}).out.find("absent") != std::string::npos;
  }));
  EXPECT_THAT(daemon.Ctl({"forget", "mlx5_1/1"}).out, HasSubstr("mlx5_1 is not watched"));
  EXPECT_EQ(daemon.Ctl({"forget", "mlx5_1/1"}).code, 2);
}

TEST(CtlKeeps, DeleteHoldDropsItByItsId) {
  const Daemon daemon;
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_1/1", "--reason=bad cable", "--by=ann"}).code, 0);
  const std::string holds = daemon.Ctl({"holds", "--json"}).out;
  const size_t at = holds.find("\"id\":\"") + 6;
  const std::string id = holds.substr(at, holds.find('"', at) - at);
  const CtlResult dropped = daemon.Ctl({"delete-hold", id, "--by=bob", "--reason=swapped"});
  EXPECT_EQ(dropped.code, 0);
  EXPECT_THAT(dropped.out, AllOf(StartsWith("dropped hold " + id + " by ann since "),
                                 HasSubstr(": bad cable (mlx5_1/1)\n")));
  EXPECT_EQ(daemon.Ctl({"holds"}).out, "no holds\n");
  EXPECT_THAT(daemon.Ctl({"audit", "--device=mlx5_1", "--limit=1"}).out,
              AllOf(HasSubstr("delete_hold"), HasSubstr("  bob "), HasSubstr("swapped")));
  const CtlResult again = daemon.Ctl({"delete-hold", id});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("there is no hold " + id), HasSubstr("(nicmon ctl holds)")));
}

TEST(CtlKeeps, LogLevelIsThatOfTheRunningNicmon) {
  const Daemon daemon;
  EXPECT_EQ(daemon.Ctl({"log-level", "debug"}).out,
            "nicmon logs debug and above until it starts again (was info)\n");
  const CtlResult wrong = daemon.Ctl({"log-level", "loud"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("debug, info, warning or error"));
}

}  // namespace
}  // namespace nicmon
