// Each command against a nicmon that runs, in another process, with simulated devices.
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
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CtlCommands, ShowTablesOrJson) {
  const Daemon daemon;
  const CtlResult ports = daemon.Ctl({"ports"});
  EXPECT_EQ(ports.code, 0);
  EXPECT_THAT(ports.out, AllOf(StartsWith("PORT "), HasSubstr("\nmlx5_0/1  yes"),
                               HasSubstr("\nmlx5_1/1  yes")));
  EXPECT_THAT(ports.err, IsEmpty());
  EXPECT_THAT(daemon.Ctl({"ports", "mlx5_1/1"}).out,
              AllOf(HasSubstr("\nmlx5_1/1 "), Not(HasSubstr("mlx5_0"))));
  EXPECT_THAT(daemon.Ctl({"ports", "--json"}).out, StartsWith(R"({"ports":[{"device":"mlx5_0")"));
  EXPECT_THAT(daemon.Ctl({"devices"}).out,
              AllOf(StartsWith("DEVICE "), HasSubstr("\nmlx5_1  open")));
  EXPECT_THAT(daemon.Ctl({"devices", "0000:02:00.0"}).out,
              AllOf(HasSubstr("\nmlx5_1 "), Not(HasSubstr("mlx5_0"))));
  EXPECT_EQ(daemon.Ctl({"holds"}).out, "no holds\n");
  EXPECT_THAT(daemon.Ctl({"holds", "--json"}).out, StartsWith(R"({"holds":[])"));
}

TEST(CtlCommands, EventsPassTheirFiltersOn) {
  const Daemon daemon;
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(testing::WaitFor([&] {
    return daemon.Ctl({"events", "--type=link", "--device=mlx5_1", "--port=1", "--limit=1"})
               .out.find("down") != std::string::npos;
  }));
  EXPECT_THAT(daemon.Ctl({"events", "--device=mlx5_0", "--since=1h"}).out,
              AllOf(HasSubstr("mlx5_0"), Not(HasSubstr("mlx5_1"))));
  EXPECT_THAT(daemon.Ctl({"events", "--json", "--limit", "1"}).out, StartsWith(R"({"events":[)"));
  const CtlResult wrong = daemon.Ctl({"events", "--type=bogus"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("type"));
}

TEST(CtlCommands, PauseAndResume) {
  const Daemon daemon;
  const CtlResult paused =
      daemon.Ctl({"pause", "mlx5_0/1", "--reason", "bad cable", "--ttl=2h", "--by=ops"});
  EXPECT_EQ(paused.code, 0);
  const size_t id = paused.out.find("(h");
  ASSERT_NE(id, std::string::npos) << paused.out;
  const std::string first = paused.out.substr(id + 1, paused.out.find(')', id) - id - 1);
  EXPECT_THAT(paused.out,
              AllOf(StartsWith("mlx5_0/1 is held until 20"), HasSubstr("(" + first + ")\n"),
                    HasSubstr("running jobs are not touched")));
  EXPECT_THAT(daemon.Ctl({"holds"}).out, HasSubstr("ops  bad cable"));

  const CtlResult again = daemon.Ctl({"pause", "mlx5_0/1", "--reason=mine"});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, AllOf(HasSubstr("held already (" + first + " by ops since"),
                               HasSubstr("bad cable"), HasSubstr("--replace")));
  const CtlResult replaced = daemon.Ctl({"pause", "mlx5_0/1", "--reason=mine", "--replace"});
  EXPECT_EQ(replaced.code, 0);
  EXPECT_THAT(replaced.out, AllOf(HasSubstr("\nreplaced hold " + first + " by ops since "),
                                  HasSubstr(": bad cable\n")));

  const CtlResult other = daemon.Ctl({"resume", "mlx5_0/1", "--hold-id=" + first});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, AllOf(HasSubstr("another hold"), HasSubstr("leave out --hold-id")));
  const CtlResult resumed = daemon.Ctl({"resume", "mlx5_0/1"});
  EXPECT_EQ(resumed.code, 0);
  EXPECT_THAT(resumed.out, AllOf(StartsWith("lifted hold h"), HasSubstr(": mine\n"),
                                 HasSubstr("mlx5_0/1 serves\n")));
  EXPECT_EQ(daemon.Ctl({"resume", "mlx5_0/1"}).code, 0);
  EXPECT_THAT(daemon.Ctl({"resume", "mlx5_0/1"}).out, StartsWith("mlx5_0/1 was not held\n"));
}

TEST(CtlCommands, TextIsShownAsTheLocaleCanTakeIt) {
  const Daemon daemon;
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_0/1", "--reason=Käfig läuft", "--by=山田"}).code, 0);
  const auto output = [&](const std::string& variable, const testing::Strings& command) {
    const CtlResult result = testing::Ctl(command, {daemon.environment(), variable});
    return result.out + result.err;
  };
  const testing::Strings again = {"pause", "mlx5_0/1", "--reason=x"};
  for (const char* utf8 : {"LANG=C.UTF-8", "LC_ALL=de_DE.utf8", "LC_CTYPE=sr_RS.UTF-8@latin"}) {
    EXPECT_THAT(output(utf8, {"holds"}), HasSubstr("山田  Käfig läuft\n")) << utf8;
    EXPECT_THAT(output(utf8, again), HasSubstr("by 山田")) << utf8;
  }
  for (const char* other : {"LANG=C", "LC_ALL=POSIX", "LANG=de_DE.ISO-8859-1", "LANG="}) {
    EXPECT_THAT(output(other, {"holds"}), HasSubstr("????  K?fig l?uft\n")) << other;
    EXPECT_THAT(output(other, again), HasSubstr("by ????")) << other;
    EXPECT_THAT(output(other, {"holds", "--json"}), HasSubstr("Käfig läuft")) << other;
  }
}

TEST(CtlCommands, PauseSaysWhoAsks) {
  const Daemon daemon;
  const auto by = [&](const testing::Strings& environment) {
    auto all = environment;
    all.push_back(daemon.environment());
    EXPECT_EQ(testing::Ctl({"pause", "mlx5_0/1", "--reason=x", "--replace"}, all).code, 0);
    return daemon.Ctl({"holds", "--json"}).out;
  };
  EXPECT_THAT(by({"SUDO_USER=alice"}), HasSubstr(R"("by":"alice")"));
  EXPECT_THAT(by({}), Not(HasSubstr("uid=")));
}

TEST(CtlCommands, ResumeSaysWhatElseIsWrong) {
  const Daemon daemon;
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_1/1", "--reason=x"}).code, 0);
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(testing::WaitFor([&] {
    return daemon.Ctl({"ports", "mlx5_1/1"}).out.find("down") != std::string::npos;
  }));
  const CtlResult resumed = daemon.Ctl({"resume", "mlx5_1/1"});
  EXPECT_EQ(resumed.code, 0);
  EXPECT_THAT(resumed.out, HasSubstr("\nmlx5_1/1 does not serve: down\n"));
}

TEST(CtlCommands, RequeryTellsWhetherItServes) {
  const Daemon daemon;
  EXPECT_EQ(daemon.Ctl({"requery", "mlx5_1/1"}).code, 0);
  EXPECT_EQ(daemon.Ctl({"requery", "mlx5_1"}).out, "mlx5_1/1  serving  400 Gb/s\n");
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(daemon.Becomes({"requery", "mlx5_1/1"}, 1));
  EXPECT_EQ(daemon.Ctl({"requery", "mlx5_1"}).out, "mlx5_1/1  down  down\n");
  daemon.Simulate(R"({"device":"mlx5_0","fail":{"verb":"query_port","errno":"EIO","times":1000}})");
  const CtlResult failed = daemon.Ctl({"requery", "mlx5_0/1"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, HasSubstr("query_failed  EIO"));
}

TEST(CtlCommands, ProbeSendsDataOverThePort) {
  const Daemon daemon;
  const CtlResult fine = daemon.Ctl({"probe", "mlx5_0/1"});
  EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
  EXPECT_THAT(fine.out, AllOf(StartsWith("STEP        MS\nopen        "), HasSubstr("\nwrite "),
                              HasSubstr("\ncompare "), HasSubstr("\nmlx5_0/1 ok in "),
                              HasSubstr(" ms over GID ")));
  EXPECT_THAT(daemon.Ctl({"probe", "mlx5_0/1", "--json"}).out,
              StartsWith(R"({"device":"mlx5_0","port":1,"result":"ok","failed_step":null)"));
  daemon.Simulate(R"({"device":"mlx5_0","fail":{"verb":"reg_mr","errno":"ENOMEM","times":2}})");
  const CtlResult failed = daemon.Ctl({"probe", "mlx5_0/1"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, AllOf(HasSubstr("  FAILED\nmlx5_0/1 failed at reg_mr: reg_mr: ENOMEM"),
                                HasSubstr("locked memory")));
  const CtlResult json = daemon.Ctl({"probe", "mlx5_0/1", "--json"});
  EXPECT_EQ(json.code, 1);
  EXPECT_THAT(json.out, HasSubstr(R"("result":"failed","failed_step":"reg_mr")"));
  EXPECT_THAT(daemon.Ctl({"audit"}).out, HasSubstr("  failed at reg_mr: reg_mr: ENOMEM"));
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_0/1", "--reason=cable"}).code, 0);
  EXPECT_EQ(daemon.Ctl({"probe", "mlx5_0/1"}).code, 0) << "before it is resumed";
}

TEST(CtlCommands, ProbeOfWhatCannotBeProbedSaysWhatToDo) {
  const Daemon daemon({"--simulate=devices=2", "--data-path=never"});
  const CtlResult never = daemon.Ctl({"probe", "mlx5_0/1"});
  EXPECT_EQ(never.code, 1);
  EXPECT_THAT(never.out, IsEmpty());
  EXPECT_THAT(never.err, HasSubstr("--data-path=on-demand"));
  const Daemon other;
  ASSERT_EQ(other.Ctl({"release", "mlx5_0", "--reason=driver"}).code, 0);
  const CtlResult released = other.Ctl({"probe", "mlx5_0/1"});
  EXPECT_EQ(released.code, 1);
  EXPECT_THAT(released.err, HasSubstr("nicmon ctl reopen mlx5_0"));
}

TEST(CtlCommands, WrongNamesAreUsage) {
  const Daemon daemon;
  for (const testing::Strings& command :
       std::vector<testing::Strings>{{"ports", "mlx5_9/1"},
                                     {"devices", "mlx5_9"},
                                     {"requery", "mlx5_9"},
                                     {"probe", "mlx5_9/1"},
                                     {"pause", "mlx5_9/1", "--reason=x"},
                                     {"resume", "mlx5_9/1"},
                                     {"release", "mlx5_9", "--reason=x"},
                                     {"reopen", "mlx5_9"}}) {
    const CtlResult result = daemon.Ctl(command);
    EXPECT_EQ(result.code, 2) << command[0];
    EXPECT_EQ(result.err, "nicmon ctl: there is no device mlx5_9; known: mlx5_0, mlx5_1\n");
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_THAT(daemon.Ctl({"pause", "mlx5_0/7", "--reason=x"}).err, HasSubstr("no port 7"));
  EXPECT_EQ(daemon.Ctl({"pause", "mlx5_0/1", "--reason=x", "--ttl=5y"}).code, 2);
}

TEST(CtlCommands, ReleaseAndReopen) {
  const Daemon daemon;
  const CtlResult released = daemon.Ctl({"release", "mlx5_0", "--reason=driver", "--ttl=10m"});
  EXPECT_EQ(released.code, 0);
  EXPECT_THAT(released.out, StartsWith("mlx5_0  released  until 20"));
  EXPECT_EQ(daemon.Ctl({"requery", "mlx5_0"}).code, 1) << "409 device_not_open";
  const CtlResult reopened = daemon.Ctl({"reopen", "mlx5_0"});
  EXPECT_EQ(reopened.code, 0);
  EXPECT_EQ(reopened.out, "mlx5_0  open\n");
  EXPECT_THAT(daemon.Ctl({"release", "--all", "--reason=reboot"}).out,
              AllOf(StartsWith("mlx5_0  released  until 20"),
                    HasSubstr("Z\nmlx5_1  released  until 20"), Not(HasSubstr("replaced"))));
  const CtlResult second = daemon.Ctl({"release", "mlx5_1", "--reason=firmware", "--by=bob"});
  EXPECT_EQ(second.code, 0);
  EXPECT_THAT(second.out,
              AllOf(StartsWith("mlx5_1  released  until 20"),
                    HasSubstr("\nmlx5_1: replaced the release by "), HasSubstr(": reboot\n")));
  EXPECT_EQ(daemon.Ctl({"reopen", "--all"}).out, "mlx5_0  open\nmlx5_1  open\n");
}

TEST(CtlCommands, ReopenOfADeviceThatIsGoneIsNoSuccess) {
  const Daemon daemon;
  daemon.Simulate(R"({"device":"mlx5_1","unplug":true})");
  ASSERT_TRUE(testing::WaitFor([&] {
    return daemon.Ctl({"devices", "mlx5_1"}).out.find("absent") != std::string::npos;
  }));
  const CtlResult result = daemon.Ctl({"reopen", "--all"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("mlx5_1  absent\n"));
}

TEST(CtlCommands, AStalledDeviceIsHeldAndItsReleaseIsPending) {
  const Daemon daemon({"--simulate=devices=2", "--tick=100ms"});
  daemon.Simulate(R"({"device":"mlx5_1","hang":{"verb":"query_port","seconds":60}})");
  ASSERT_TRUE(testing::WaitFor([&] {
    return daemon.Ctl({"devices", "mlx5_1"}).out.find("stalled") != std::string::npos;
  }));
  EXPECT_EQ(daemon.Ctl({"pause", "mlx5_1/1", "--reason=hangs"}).code, 0);
  EXPECT_EQ(daemon.Ctl({"resume", "mlx5_1/1"}).code, 0);
  EXPECT_EQ(daemon.Ctl({"check", "--expect-ports=2"}).code, 1);
  const CtlResult requery = daemon.Ctl({"requery", "mlx5_1/1"});
  EXPECT_EQ(requery.code, 1);
  EXPECT_THAT(requery.err, HasSubstr("hangs"));
  const CtlResult release = daemon.Ctl({"release", "mlx5_1", "--reason=driver"});
  EXPECT_EQ(release.code, 1);
  EXPECT_THAT(release.out, StartsWith("mlx5_1  pending  hangs in a call"));
}

TEST(CtlCommands, SelectForPeopleAndJobs) {
  const Daemon daemon;
  EXPECT_THAT(daemon.Ctl({"select"}).out, AllOf(StartsWith("PORT "), HasSubstr("\nmlx5_1/1  400")));
  EXPECT_EQ(daemon.Ctl({"select", "--format=nccl"}).out, "=mlx5_0:1,mlx5_1:1\n");
  EXPECT_EQ(daemon.Ctl({"select", "--format=ucx", "--count=1"}).out, "mlx5_0:1\n");
  EXPECT_THAT(daemon.Ctl({"select", "--json"}).out, StartsWith(R"({"requested":null)"));
  const CtlResult few = daemon.Ctl({"select", "--format=ucx", "--count=4"});
  EXPECT_EQ(few.code, 1);
  EXPECT_EQ(few.out, "mlx5_0:1,mlx5_1:1\n");
  EXPECT_EQ(few.err, "nicmon ctl: only 2 of 4 ports serve\n");
  ASSERT_EQ(daemon.Ctl({"release", "--all", "--reason=x"}).code, 0);
  const CtlResult none = daemon.Ctl({"select", "--format=nccl"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.out, IsEmpty());
  EXPECT_THAT(none.err, HasSubstr("none of 2 ports serves"));
  EXPECT_EQ(daemon.Ctl({"select", "--format=json"}).code, 2);
  EXPECT_EQ(daemon.Ctl({"select", "--sort=bogus"}).code, 2);
}

TEST(CtlCommands, HealthIsAboutNicmonNotTheNics) {
  const Daemon daemon({"--simulate=devices=2", "--expect-ports=2"});
  EXPECT_EQ(daemon.Ctl({"health"}).out, "nicmon works; ready, 2 of 2 ports up, 2 serving\n");
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(testing::WaitFor(
      [&] { return daemon.Ctl({"health"}).out.find("1 of 2 ports up") != std::string::npos; }));
  const CtlResult health = daemon.Ctl({"health"});
  EXPECT_EQ(health.code, 0);
  EXPECT_THAT(health.out, HasSubstr("not ready"));
  EXPECT_EQ(daemon.Ctl({"health", "--json"}).out, "{\"status\":\"ok\"}\n");
}

TEST(CtlCommands, CheckSaysItInOneLineAndItsExitCode) {
  const Daemon daemon;
  EXPECT_EQ(daemon.Ctl({"check"}).out, "OK: 2 of 2 ports serve\n");
  EXPECT_EQ(daemon.Ctl({"check", "--expect-ports=2", "--min-speed=400"}).code, 0);
  const CtlResult slow = daemon.Ctl({"check", "--min-speed=800"});
  EXPECT_EQ(slow.code, 1);
  EXPECT_THAT(slow.out, StartsWith("PROBLEM: 0 of 2 ports serve at full speed: mlx5_0/1 400 Gb/s"));
  EXPECT_EQ(daemon.Ctl({"check", "--expect-ports=3"}).out,
            "PROBLEM: 2 of 3 ports serve: no more are known\n");
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(daemon.Becomes({"check"}, 1));
  EXPECT_EQ(daemon.Ctl({"check"}).out, "PROBLEM: 1 of 2 ports serve: mlx5_1/1 down\n");
  EXPECT_EQ(daemon.Ctl({"check", "--expect-ports=1"}).code, 0);
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_1/1", "--reason=cable"}).code, 0);
  EXPECT_EQ(daemon.Ctl({"check"}).out, "OK: 1 of 1 ports serve, 1 set aside\n");
  EXPECT_EQ(daemon.Ctl({"check", "--expect-ports=two"}).code, 2);
  EXPECT_EQ(daemon.Ctl({"check", "--min-speed=-1"}).code, 2);
}

TEST(CtlCommands, WatchTellsEachChangeUntilNicmonEnds) {
  Daemon daemon;
  testing::Child watch({NICMON_PROGRAM, "ctl", "watch"}, testing::Child::Options(),
                       {daemon.environment()});
  ASSERT_TRUE(watch.WaitForOutput("  mlx5_1/1 serves, 400 Gb/s\n"));
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(watch.WaitForOutput("  mlx5_1/1 link: active -> down (event)"));
  ASSERT_TRUE(watch.WaitForOutput("  mlx5_1/1 does not serve: down\n"));
  ASSERT_EQ(daemon.Ctl({"pause", "mlx5_0/1", "--reason=bad cable"}).code, 0);
  ASSERT_TRUE(watch.WaitForOutput("  mlx5_0/1 does not serve: held (bad cable)\n"));
  daemon.Simulate(R"({"device":"mlx5_1","rename":"mlx5_7"})");
  ASSERT_TRUE(watch.WaitForOutput("  mlx5_7/1 does not serve: down\n"));
  ASSERT_TRUE(watch.WaitForOutput("  mlx5_1/1 is gone\n"));
  daemon.process().Signal(SIGTERM);
  EXPECT_EQ(watch.Wait(std::chrono::seconds(20)), 2);
  EXPECT_THAT(watch.Output(), HasSubstr("nicmon ctl: the stream has ended"));
}

TEST(CtlCommands, WatchAsJsonIsALineForEachEvent) {
  const Daemon daemon;
  testing::Child watch({NICMON_PROGRAM, "ctl", "watch", "--json"}, testing::Child::Options(),
                       {daemon.environment()});
  ASSERT_TRUE(watch.WaitForOutput("\n"));
  EXPECT_THAT(watch.OutputSoFar(), AllOf(StartsWith("{"), HasSubstr("\"ports\":[")));
  daemon.Simulate(testing::kPortDown);
  ASSERT_TRUE(watch.WaitForOutput("\"type\":\"link\""));
}

}  // namespace
}  // namespace nicmon
