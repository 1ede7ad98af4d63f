#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "http/http_test.h"
#include "http/times.h"
#include "nicmon/base/log.h"
#include "testing/log_capture.h"

namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kPort = "/api/v1/ports/mlx5_0/1";

class OperatorRoutes : public HttpTest {
 protected:
  OperatorRoutes() {
    first_ = node_.Add("mlx5_0", "0000:3b:00.0");
    second_ = node_.Add("mlx5_1", "0000:0a:00.0", 2);
    options_.command_timeout = milliseconds(200);
  }
  Json PostJson(const std::string& path, const std::string& form, int status) {
    const RawReply reply = Post(path, form);
    EXPECT_EQ(reply.status, status) << path << ": " << reply.body;
    Json json = Json::parse(reply.body, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << reply.body;
    return json;
  }
  std::string CodeOf(const std::string& path, const std::string& form, int status) {
    return PostJson(path, form, status)["error"]["code"];
  }
  uint64_t Actions(const std::string& action, const std::string& result) {
    const auto actions = stats_->Read().admin_actions;
    const auto found = actions.find({action, result});
    return found == actions.end() ? 0 : found->second;
  }
  const Hold* FindHold(DeviceId device, uint32_t port) {
    snapshot_ = node_.holds->snapshot();
    return snapshot_->FindHold({device, port}, std::chrono::system_clock::now());
  }

  DeviceId first_ = 0, second_ = 0;
  std::shared_ptr<const HoldsSnapshot> snapshot_;
};

TEST_F(OperatorRoutes, PauseHoldsUntilTheEnd) {
  Start();
  const Json reply = PostJson(kPort + "/pause", "reason=bad+cable&ttl=2h&by=ops", 200);
  EXPECT_EQ(reply["hold"]["reason"], "bad cable");
  EXPECT_EQ(reply["hold"]["by"], "ops");
  EXPECT_EQ(reply["hold"]["device"], "mlx5_0");
  EXPECT_NE(reply["effect"].get<std::string>().find("running jobs are not touched"),
            std::string::npos);
  const Hold* hold = FindHold(first_, 1);
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(reply["until"], Rfc3339(*hold->until));
  EXPECT_EQ(*hold->until - hold->since < hours(2) + seconds(1), true);
  EXPECT_EQ(node_.pokes, 1);
  EXPECT_EQ(Json::parse(Get(kPort).body)["paused"][0]["id"], reply["hold"]["id"]);
  EXPECT_EQ(Json::parse(Get("/api/v1/holds").body)["holds"].size(), 1U);
  EXPECT_EQ(Actions("pause", "ok"), 1U);
}

TEST_F(OperatorRoutes, PauseTakesUntilWithAnOffset) {
  Start();
  const Json reply = PostJson(kPort + "/pause", "reason=x&until=2100-01-01T00:00:00%2B01:00", 200);
  EXPECT_EQ(reply["until"], "2099-12-31T23:00:00.000Z");
  EXPECT_EQ(reply["hold"]["by"], "uid=" + std::to_string(::getuid()));
}

TEST_F(OperatorRoutes, PauseConflictsUnlessReplaced) {
  Start();
  const std::string id = PostJson(kPort + "/pause", "reason=one", 200)["hold"]["id"];
  const Json conflict = PostJson(kPort + "/pause", "reason=two", 409);
  EXPECT_EQ(conflict["error"]["code"], "already_held");
  EXPECT_EQ(conflict["hold"]["id"], id);
  EXPECT_EQ(conflict["hold"]["reason"], "one");
  EXPECT_EQ(PostJson(kPort + "/pause", "reason=two&replace=true", 200)["hold"]["reason"], "two");
  EXPECT_EQ(Actions("pause", "error"), 1U);
}

TEST_F(OperatorRoutes, PauseRefusesWhatItCannotMean) {
  Start();
  EXPECT_EQ(CodeOf(kPort + "/pause", "", 400), "missing_parameter");
  EXPECT_EQ(CodeOf(kPort + "/pause", "reason=", 400), "missing_parameter");
  EXPECT_EQ(CodeOf(kPort + "/pause", "reason=%20%20", 400), "missing_parameter");
  for (const char* steers : {"%c2%9b31m", "%e2%80%a8", "%e2%80%ae", "%7f", "%1b"}) {
    EXPECT_EQ(CodeOf(kPort + "/pause", std::string("reason=x") + steers, 400), "invalid_parameter")
        << steers;
  }
  for (const char* form :
       {"reason=x&ttl=1h&until=2100-01-01T00:00:00Z", "reason=x&ttl=5", "reason=x&ttl=0s",
        "reason=x&ttl=-1h", "reason=x&ttl=1w", "reason=x&ttl=99999d", "reason=x&until=08:00",
        "reason=x&until=2100-01-01", "reason=x&until=2100-02-30T00:00:00Z",
        "reason=x&until=2100-01-01T00:00:00", "reason=x&until=2020-01-01T00:00:00Z",
        "reason=x&replace=maybe", "reason=a%0Ab", "reason=%ff"}) {
    EXPECT_EQ(CodeOf(kPort + "/pause", form, 400), "invalid_parameter") << form;
  }
  EXPECT_EQ(CodeOf(kPort + "/pause", "reason=x&reson=y", 400), "unknown_parameter");
  EXPECT_EQ(CodeOf(kPort + "/pause", "reason=x&reason=x", 400), "duplicate_parameter");
  EXPECT_EQ(CodeOf(kPort + "/pause?reason=y", "reason=x", 400), "duplicate_parameter");
  EXPECT_EQ(CodeOf(kPort + "/pause", "reason=%4", 400), "malformed_body");
  EXPECT_EQ(FindHold(first_, 1), nullptr);
}

TEST_F(OperatorRoutes, ParametersMayBeJsonOrInTheQuery) {
  Start();
  const auto json = [this](const std::string& body) {
    return Send(admin(), "POST " + kPort + "/pause", "Content-Type: application/json\r\n", body);
  };
  EXPECT_EQ(json(R"({"reason":"a","ttl":"1h","replace":true})").status, 200);
  EXPECT_EQ(json(R"({"reason":{"a":1}})").status, 400);
  EXPECT_EQ(json(R"({"reason":"a","reason":"b","replace":true})").status, 400);
  EXPECT_EQ(json("[1]").status, 400);
  EXPECT_EQ(json("{").status, 400);
  EXPECT_EQ(json(std::string(30'000, '[') + std::string(30'000, ']')).status, 400);
  EXPECT_EQ(json(R"({"reason":")" + std::string(30'000, '{') + R"("})").status, 400);
  // curl -d '{…}' calls it a form.
  EXPECT_EQ(Post(kPort + "/pause", R"({"reason":"b","replace":true})").status, 200);
  EXPECT_EQ(Post(kPort + "/pause?reason=c&replace=1").status, 200);
  EXPECT_EQ(FindHold(first_, 1)->reason, "c");
  EXPECT_EQ(
      Send(admin(), "POST " + kPort + "/pause", "Content-Type: text/plain\r\n", "reason=x").status,
      400);
}

TEST_F(OperatorRoutes, APauseNeverWaitsForTheDevice) {
  // The thread never gets to any command: hung, absent, denied, and never opened.
  node_.on_command = [](DeviceSnapshot&, const std::shared_ptr<Pending>&) {};
  options_.command_timeout = hours(1);
  node_.Stall(first_);
  node_.Change(second_, [](DeviceSnapshot& device) { device.status = DeviceStatus::kAbsent; });
  const DeviceId unopened = node_.Add("mlx5_2", "");
  node_.Change(unopened, [](DeviceSnapshot& device) {
    device.status = DeviceStatus::kOpening;
    device.ports.clear();
  });
  Start();
  PostJson(kPort + "/pause", "reason=x", 200);
  PostJson("/api/v1/ports/mlx5_1/2/pause", "reason=x", 200);
  PostJson("/api/v1/ports/mlx5_2/1/pause", "reason=x", 200);
  EXPECT_NE(FindHold(unopened, 1), nullptr);
  EXPECT_EQ(CodeOf("/api/v1/ports/mlx5_2/256/pause", "reason=x", 404), "unknown_port");
  EXPECT_EQ(CodeOf("/api/v1/ports/mlx5_1/3/pause", "reason=x", 404), "unknown_port");
  EXPECT_EQ(CodeOf("/api/v1/ports/mlx5_9/1/pause", "reason=x", 404), "unknown_device");
  PostJson("/api/v1/ports/mlx5_2/1/resume", "", 200);
}

TEST_F(OperatorRoutes, ARecordSaysWhoDidItAndLeavesOutWhatDoesNotApply) {
  testing::LogCapture capture;
  Start();
  const std::string id = PostJson(kPort + "/pause", "reason=a&by=ann", 200)["hold"]["id"];
  PostJson(kPort + "/resume", "by=bob", 200);
  PostJson(kPort + "/resume", "by=bob", 200);
  const std::string who = "who=\"uid=" + std::to_string(::getuid()) + "\"";
  const std::string port = " device=mlx5_0 port=1";
  const std::string resume = "INFO operator action action=resume " + who + " by=bob" + port;
  const std::vector<std::string> expected = {
      "INFO operator action action=pause " + who + " by=ann" + port +
          " reason=a until=none hold=" + id + " status=200 again=\"curl --unix-socket " + admin() +
          " http://localhost/api/v1/ports/mlx5_0/1/pause -d reason=a -d by=ann\"",
      resume + " reason=a until=none hold=" + id + " held_by=ann status=200",
      resume + " status=200",
  };
  EXPECT_EQ(capture.Records(), expected);
}

TEST_F(OperatorRoutes, ResumeLiftsTheHoldItMeans) {
  Start();
  EXPECT_EQ(PostJson(kPort + "/resume", "", 200)["changed"], false);
  const std::string id = PostJson(kPort + "/pause", "reason=x", 200)["hold"]["id"];
  const Json conflict = PostJson(kPort + "/resume", "hold_id=h999", 409);
  EXPECT_EQ(conflict["error"]["code"], "hold_mismatch");
  EXPECT_EQ(conflict["hold"]["id"], id);
  const Json reply = PostJson(kPort + "/resume", "hold_id=" + id, 200);
  EXPECT_EQ(reply["changed"], true);
  EXPECT_EQ(reply["hold"]["id"], id);
  EXPECT_EQ(FindHold(first_, 1), nullptr);
}

TEST_F(OperatorRoutes, AnOrphanedHoldCanBeDropped) {
  Start();
  const auto listed = [&] { return Json::parse(Get("/api/v1/holds").body)["holds"][0]; };
  const SeenDevice device{first_, "mlx5_0", {"0001:0000:0000:0000", "0000:01:00.0"}};
  const SeenDevice successor{9, "mlx5_0", {"0002:0000:0000:0000", "0000:01:00.0"}};
  node_.holds->SeePresent({device});
  const std::string id = PostJson(kPort + "/pause", "reason=x", 200)["hold"]["id"];
  node_.Remove(first_);
  node_.holds->SeePresent({});
  EXPECT_EQ(listed()["orphaned"], false) << "it waits for its device";
  EXPECT_EQ(listed()["present"], false);
  node_.holds->SeePresent({successor});
  EXPECT_EQ(listed()["orphaned"], true);
  EXPECT_EQ(listed()["device"], "mlx5_0");
  EXPECT_EQ(listed()["node_guid"], device.key.node_guid);
  EXPECT_EQ(listed()["pci_address"], device.key.pci_address);
  EXPECT_EQ(Send(admin(), "DELETE /api/v1/holds/" + id).status, 200);
  EXPECT_EQ(Send(admin(), "DELETE /api/v1/holds/" + id).status, 404);
  EXPECT_EQ(Json::parse(Get("/api/v1/holds").body)["holds"].size(), 0U);
}

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
  EXPECT_EQ(reply["devices"], Json::parse(R"([{"device":"mlx5_0","status":"pending"},
                                              {"device":"mlx5_1","status":"released"}])"));
  EXPECT_EQ(PostJson("/api/v1/reopen", "", 202)["devices"][1]["status"], "open");
}

TEST_F(OperatorRoutes, AcceptSpeedMakesTodaysSpeedTheBaseline) {
  node_.holds->SetBaseline({first_, 1}, 800'000'000'000);
  Start();
  const Json reply = PostJson(kPort + "/accept-speed", "", 200);
  EXPECT_EQ(reply["baseline_speed_gbps"], 400);
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

TEST_F(OperatorRoutes, APostWithoutBodyAndLengthIsAnsweredAtOnce) {
  Start();
  RawClient client(admin());
  for (int i = 0; i < 2; ++i) {  // the connection stays
    client.Send("POST " + kPort + "/resume HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto reply = client.Receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
  }
}

class SimulatorRoute : public HttpTest {
 protected:
  SimulatorRoute() { node_.with_simulator = true; }
  RawReply Simulate(const std::string& body) {
    return Send(admin(), "POST /api/v1/simulator", "Content-Type: application/json\r\n", body);
  }
};

TEST_F(SimulatorRoute, DecodesWhatTheContractShows) {
  Start();
  const RawReply reply = Simulate(R"([
    {"device":"mlx5_0","port":1,"set":{"state":"down","physical_state":"polling",
     "effective_speed_gbps":2.5,"active_speed":64,"active_width":2,
     "counters":{"link_downed":3}},"event":"PORT_ERR","repeat":2},
    {"device":"a","fail":{"verb":"query_port","errno":"EIO","times":3}},
    {"device":"b","hang":{"verb":"open_device","seconds":0.5}},
    {"device":"c","unplug":true,"silent":true},
    {"device":"d","plug":true,"event":99},
    {"device":"e","rename":"f","fail":{"verb":"x","errno":7,"skip":2}}])");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["applied"], 6);
  ASSERT_EQ(node_.simulated.size(), 6U);
  const SimCommand& set = node_.simulated[0];
  EXPECT_EQ(set.port, 1U);
  EXPECT_EQ(set.state, 1);
  EXPECT_EQ(set.physical_state, 2);
  EXPECT_EQ(set.effective_speed_100mbps, 25U);
  EXPECT_EQ(set.active_speed, 64U);
  EXPECT_EQ(set.active_width, 2U);
  EXPECT_EQ(set.counters.at("link_downed"), 3U);
  EXPECT_EQ(set.event, 10);
  EXPECT_EQ(set.repeat, 2U);
  EXPECT_EQ(node_.simulated[1].fail->error, EIO);
  EXPECT_EQ(node_.simulated[1].fail->times, 3U);
  EXPECT_EQ(node_.simulated[2].hang->duration, milliseconds(500));
  EXPECT_TRUE(node_.simulated[3].unplug && node_.simulated[3].silent);
  EXPECT_TRUE(node_.simulated[4].plug);
  EXPECT_EQ(node_.simulated[4].event, 99);
  EXPECT_EQ(node_.simulated[5].rename, "f");
  EXPECT_EQ(node_.simulated[5].fail->error, 7);
  EXPECT_EQ(node_.simulated[5].fail->skip, 2U);
}

TEST_F(SimulatorRoute, RefusesWhatItDoesNotKnowAndDoesNothing) {
  Start();
  for (const char* body :
       {"", "7", "{}", R"({"device":7})", R"({"device":"a","prot":1})",
        R"({"device":"a","set":{"sate":1}})", R"({"device":"a","set":{"state":"upp"}})",
        R"({"device":"a","event":"PORT_EXPLODED"})", R"({"device":"a","event":-1})",
        R"({"device":"a","fail":{"verb":"x","errno":"EWHAT"}})",
        R"({"device":"a","fail":{"errno":5}})", R"({"device":"a","hang":{"verb":"x"}})",
        R"({"device":"a","unplug":"yes"})", R"([{"device":"a"},{"device":"b","x":1}])",
        R"({"device":"a","device":"b"})", R"({"device":"a","set":{"counters":{"x":-1}}})"}) {
    EXPECT_EQ(Simulate(body).status, 400) << body;
  }
  EXPECT_TRUE(node_.simulated.empty());
  EXPECT_NE(Simulate(R"([{"device":"a"},{"device":"b","x":1}])").body.find("command 1"),
            std::string::npos);
}

TEST_F(SimulatorRoute, AListStopsAtTheFirstError) {
  node_.simulate_error = "no such port";
  Start();
  const RawReply reply = Simulate(R"([{"device":"a"},{"device":"b"},{"device":"c"}])");
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find("command 1: no such port"), std::string::npos) << reply.body;
  EXPECT_EQ(node_.simulated.size(), 1U);
}

}  // namespace
}  // namespace nicmon::http
