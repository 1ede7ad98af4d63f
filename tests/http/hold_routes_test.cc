#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "http/operator_fixture.h"
#include "http/times.h"
#include "testing/log_capture.h"

// Pause and resume: what they take, refuse, answer and leave behind.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::seconds;

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
  const Json replaced = PostJson(kPort + "/pause", "reason=two&replace=true", 200);
  EXPECT_EQ(replaced["hold"]["reason"], "two");
  EXPECT_EQ(replaced["replaced"]["id"], id);
  EXPECT_EQ(replaced["replaced"]["reason"], "one");
  PostJson(kPort + "/resume", "", 200);
  const Json free = PostJson(kPort + "/pause", "reason=three&replace=true", 200);
  EXPECT_EQ(free.at("replaced"), nullptr);
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

}  // namespace
}  // namespace nicmon::http
