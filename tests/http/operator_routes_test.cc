#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "http/operator_fixture.h"
#include "http/times.h"
#include "nicmon/base/log.h"
#include "testing/log_capture.h"

// Requery, release and reopen, and the rest of what only an operator may do.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(OperatorRoutes, RequeryTellsBeforeAndAfter) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.ports[0].state = 1;
    device.ports[0].pauses.Set(PauseReason::kLink);
  });
  node_.on_command = [](DeviceSnapshot& device, const std::shared_ptr<Pending>& pending) {
    EXPECT_TRUE(pending->Start());
    EXPECT_EQ(pending->port(), 1U);
    CommandResult result;
    result.before = std::make_shared<DeviceSnapshot>(device);
    device.ports[0].state = kStateActive;
    device.ports[0].pauses.Clear(PauseReason::kLink);
    result.after = std::make_shared<DeviceSnapshot>(device);
    result.duration = milliseconds(12);
    pending->Finish(std::move(result));
  };
  Start();
  const Json reply = PostJson(kPort + "/requery", "", 200);
  EXPECT_EQ(reply["before"]["state"], "down");
  EXPECT_EQ(reply["after"]["state"], "active");
  EXPECT_EQ(reply["changed"], true);
  EXPECT_EQ(reply["duration_ms"], 12.0);
  EXPECT_EQ(reply["verdict"], "recovered");
  const Json again = PostJson(kPort + "/requery", "", 200);
  EXPECT_EQ(again["verdict"], "serving");
  EXPECT_EQ(again["changed"], false);
}

TEST_F(OperatorRoutes, RequeryOfADeviceCoversItsPorts) {
  Start();
  const Json reply = PostJson("/api/v1/devices/mlx5_1/requery", "", 200);
  ASSERT_EQ(reply["ports"].size(), 2U);
  EXPECT_EQ(reply["ports"][1]["port"], 2);
  EXPECT_EQ(reply["ports"][1]["verdict"], "serving");
  EXPECT_EQ(reply["changed"], false);
}

TEST_F(OperatorRoutes, RequeryOfADeviceThatHangsIsAnsweredAtOnceAndNeverRuns) {
  bool asked = false;
  node_.on_command = [&](DeviceSnapshot&, const std::shared_ptr<Pending>&) { asked = true; };
  options_.command_timeout = hours(1);
  node_.Stall(first_);
  Start();
  for (const std::string& path :
       {kPort + "/requery", std::string("/api/v1/devices/mlx5_0/requery")}) {
    const Json error = PostJson(path, "", 504)["error"];
    EXPECT_EQ(error["code"], "not_started");
    EXPECT_NE(error["message"].get<std::string>().find("hangs in query_port, for 86400 s"),
              std::string::npos)
        << error;
  }
  EXPECT_FALSE(asked);
}

TEST_F(OperatorRoutes, RequeryWithoutAnAnswer) {
  Start();
  const auto finish = [this](CommandResult::Code code) {
    node_.on_command = [code](DeviceSnapshot&, const std::shared_ptr<Pending>& pending) {
      pending->Start();
      CommandResult result;
      result.code = code;
      pending->Finish(std::move(result));
    };
    return Post(kPort + "/requery");
  };
  EXPECT_EQ(finish(CommandResult::Code::kNotOpen).status, 409);
  EXPECT_EQ(finish(CommandResult::Code::kStopping).headers.count("retry-after"), 1U);
  EXPECT_EQ(finish(CommandResult::Code::kQueueFull).status, 503);
  EXPECT_EQ(CodeOf(kPort + "/requery", "", 503), "queue_full");

  std::shared_ptr<Pending> last;
  node_.on_command = [&](DeviceSnapshot&, const std::shared_ptr<Pending>& pending) {
    last = pending;
  };
  EXPECT_EQ(CodeOf(kPort + "/requery", "", 504), "not_started");
  EXPECT_FALSE(last->Start());  // and it never runs
  node_.on_command = [&](DeviceSnapshot&, const std::shared_ptr<Pending>& pending) {
    pending->Start();
  };
  EXPECT_EQ(CodeOf(kPort + "/requery", "", 504), "in_progress");
}

TEST_F(OperatorRoutes, ReleaseAndReopen) {
  Start();
  EXPECT_EQ(CodeOf("/api/v1/devices/mlx5_0/release", "", 400), "missing_parameter");
  EXPECT_EQ(CodeOf("/api/v1/devices/mlx5_0/release", "reason=x&ttl=x", 400), "invalid_parameter");
  const Json reply = PostJson("/api/v1/devices/mlx5_0/release", "reason=driver+update", 200);
  EXPECT_EQ(reply["status"], "released");
  const auto until = ParseRfc3339(reply["until"].get<std::string>());
  ASSERT_TRUE(until);
  const auto left = *until - std::chrono::system_clock::now();
  EXPECT_GT(left, hours(1) - seconds(60));
  EXPECT_LE(left, hours(1));
  const Json reopened = PostJson("/api/v1/devices/mlx5_0/reopen", "", 200);
  EXPECT_EQ(reopened["status"], "open");
  EXPECT_EQ(reopened["changed"], true);
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/reopen", "", 200)["changed"], false);
}

TEST_F(OperatorRoutes, ASecondReleaseSaysWhatItReplaces) {
  testing::LogCapture capture;
  Start();
  const Json first = PostJson("/api/v1/devices/mlx5_0/release", "reason=driver&by=ann", 200);
  EXPECT_EQ(first.at("replaced"), nullptr);
  const Json second =
      PostJson("/api/v1/devices/mlx5_0/release", "reason=firmware&ttl=2h&by=bob", 200);
  EXPECT_EQ(second["replaced"]["reason"], "driver");
  EXPECT_EQ(second["replaced"]["by"], "ann");
  EXPECT_EQ(second["replaced"]["until"], first["until"]);
  const Json all = PostJson("/api/v1/release", "reason=reboot&by=eve", 200);
  EXPECT_EQ(all["devices"][0]["replaced"]["reason"], "firmware");
  EXPECT_EQ(all["devices"][1].at("replaced"), nullptr);
  EXPECT_TRUE(ParseRfc3339(all["until"].get<std::string>()));
  PostJson("/api/v1/devices/mlx5_0/reopen", "by=dan", 200);
  std::vector<std::string> actions = capture.Records();
  std::erase_if(actions, [](const std::string& one) { return !one.starts_with("INFO operator"); });
  ASSERT_EQ(actions.size(), 4U);
  EXPECT_EQ(actions[0].find("replaced="), std::string::npos) << actions[0];
  EXPECT_NE(actions[1].find("held_by=ann replaced=\"mlx5_0 by ann since "), std::string::npos)
      << actions[1];
  EXPECT_NE(actions[1].find(": driver\""), std::string::npos) << actions[1];
  EXPECT_NE(actions[2].find("held_by=bob replaced=\"mlx5_0 by bob since "), std::string::npos)
      << actions[2];
  EXPECT_NE(actions[3].find("held_by=eve"), std::string::npos) << actions[3];
  EXPECT_EQ(actions[3].find("replaced="), std::string::npos) << "nothing took its place";
}

TEST_F(OperatorRoutes, AReleaseThatHasEndedIsNotReplaced) {
  const WallTime now = std::chrono::system_clock::now();
  node_.holds->SetRelease(first_, {"old", "ann", now - hours(2), now - hours(1)});
  Start();
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 200).at("replaced"), nullptr);
}

TEST_F(OperatorRoutes, ReleaseWaitsForTheClose) {
  // The device's thread gets to it later, and not through the command.
  node_.on_command = [](DeviceSnapshot&, const std::shared_ptr<Pending>&) {};
  options_.command_timeout = seconds(30);
  Start();
  std::thread device([this] {
    while (node_.holds->snapshot()->FindRelease(first_, std::chrono::system_clock::now()) ==
           nullptr) {
      std::this_thread::yield();
    }
    node_.Change(first_, [this](DeviceSnapshot& d) { FollowRelease(*node_.holds, d); });
  });
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 200)["status"], "released");
  device.join();
}

TEST_F(OperatorRoutes, ReleaseOfAHungDeviceIsPending) {
  node_.on_command = [](DeviceSnapshot&, const std::shared_ptr<Pending>&) {};
  Start();
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 202)["status"], "pending");
  EXPECT_NE(node_.holds->snapshot()->FindRelease(first_, std::chrono::system_clock::now()),
            nullptr);
}

TEST_F(OperatorRoutes, ReleaseOfAllWaitsForNoneThatHangs) {
  options_.command_timeout = hours(1);
  node_.Stall(first_);
  node_.on_command = [this](DeviceSnapshot& device, const std::shared_ptr<Pending>&) {
    if (device.id != first_) {
      FollowRelease(*node_.holds, device);
    }
  };
  Start();
  const Json reply = PostJson("/api/v1/release", "reason=reboot&ttl=10m", 202);
  EXPECT_EQ(reply["status"], "pending");
  EXPECT_EQ(reply["devices"],
            Json::parse(R"([{"device":"mlx5_0","status":"pending","replaced":null},
                            {"device":"mlx5_1","status":"released","replaced":null}])"));
  EXPECT_EQ(PostJson("/api/v1/reopen", "", 202)["devices"][1]["status"], "open");
}

TEST_F(OperatorRoutes, AcceptSpeedMakesTodaysSpeedTheBaseline) {
  node_.holds->SetBaseline({first_, 1}, 800'000'000'000);
  Start();
  const Json reply = PostJson(kPort + "/accept-speed", "", 200);
  EXPECT_EQ(reply["baseline_speed_gbps"].dump(), "400") << "no fraction, as in /api/v1/ports";
  EXPECT_EQ(reply["previous_baseline_speed_gbps"], 800);
  EXPECT_EQ(node_.holds->snapshot()->FindRecord({first_, 1})->baseline_bps, 400'000'000'000U);
  node_.Change(first_, [](DeviceSnapshot& device) { device.ports[0].state = 1; });
  EXPECT_EQ(CodeOf(kPort + "/accept-speed", "", 409), "port_not_up");
}

TEST_F(OperatorRoutes, ForgetIsForPortsThatAreGone) {
  node_.holds->NoteActive({first_, 1}, std::nullopt);
  Start();
  EXPECT_EQ(CodeOf(kPort + "/forget", "", 409), "port_up");
  node_.Change(first_, [](DeviceSnapshot& device) { device.ports[0].state = 1; });
  Json reply = PostJson(kPort + "/forget", "", 200);
  EXPECT_EQ(reply["changed"], true);
  EXPECT_EQ(reply["device_forgotten"], false);
  EXPECT_EQ(node_.holds->snapshot()->FindRecord({first_, 1}), nullptr);
  EXPECT_TRUE(node_.forgotten.empty());
  node_.Change(first_, [](DeviceSnapshot& device) { device.status = DeviceStatus::kAbsent; });
  reply = PostJson(kPort + "/forget", "", 200);
  EXPECT_EQ(reply["device_forgotten"], true);
  EXPECT_EQ(node_.forgotten, std::vector<DeviceId>{first_});
  EXPECT_EQ(CodeOf(kPort + "/forget", "", 404), "unknown_device");
}

TEST_F(OperatorRoutes, LogLevel) {
  Start();
  const auto previous = log::GetLevel();
  EXPECT_EQ(Send(admin(), "PUT /api/v1/log-level?level=debug").status, 200);
  EXPECT_EQ(log::GetLevel(), log::Level::kDebug);
  EXPECT_EQ(Send(admin(), "PUT /api/v1/log-level?level=loud").status, 400);
  EXPECT_EQ(Send(admin(), "PUT /api/v1/log-level").status, 400);
  EXPECT_EQ(log::GetLevel(), log::Level::kDebug);
  log::SetLevel(previous);
}

}  // namespace
}  // namespace nicmon::http
