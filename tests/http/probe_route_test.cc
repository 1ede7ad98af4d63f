#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "http/operator_fixture.h"
#include "testing/log_capture.h"

// The loopback probe of a port's data path, and what else waits for one.
namespace nicmon::http {
namespace {

using Code = ProbeOutcome::Code;
using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr const char* kProbe = "/api/v1/ports/mlx5_0/1/probe";

/// One that found the registration of memory broken.
ProbeResult Failed() {
  ProbeResult result;
  result.steps = {{ProbeStep::kOpen, microseconds(1412)},
                  {ProbeStep::kQueryPort, microseconds(20)},
                  {ProbeStep::kRegisterMemory, std::chrono::nanoseconds(7499)}};
  result.failed = ProbeStep::kRegisterMemory;
  result.error = "ibv_reg_mr: ENOMEM (Cannot allocate memory)";
  result.hint = "raise the limit of locked memory";
  result.events = {"device_fatal"};
  result.total = microseconds(1500);
  return result;
}

ProbeResult Fine() {
  ProbeResult result;
  result.steps = {{ProbeStep::kOpen, microseconds(400)}, {ProbeStep::kCompare, microseconds(1)}};
  result.gid = Gid{3, {0xfe, 0x80}, 2, "eth0"};
  result.total = microseconds(1234);
  return result;
}

class ProbeRoute : public OperatorRoutes {
 protected:
  ProbeRoute() {
    node_.on_probing = [this](DeviceId) { return probing_.load(); };
  }
  /// Every probe comes to this.
  void Comes(Code code, const ProbeResult& result = {}) {
    node_.on_probe = [code, result](DeviceId, uint32_t, Duration) {
      return ProbeOutcome{code, result};
    };
  }
  std::atomic<bool> probing_ = false;  // a probe holds handles of every device
};

TEST_F(ProbeRoute, TellsItsStepsAndTheGid) {
  std::optional<std::tuple<DeviceId, uint32_t, Duration>> asked;
  node_.on_probe = [&](DeviceId device, uint32_t port, Duration patience) {
    asked.emplace(device, port, patience);
    return ProbeOutcome{Code::kDone, Fine()};
  };
  Start();
  const RawReply reply = Post("/api/v1/ports/mlx5_1/2/probe");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body,
            R"({"device":"mlx5_1","port":2,"result":"ok","failed_step":null,"error":null,)"
            R"("hint":null,"gid":{"index":3,"gid":"fe80:0000:0000:0000:0000:0000:0000:0000",)"
            R"("type":"RoCE v2","netdev":"eth0"},"duration_ms":1.234,"steps":)"
            R"([{"step":"open","duration_ms":0.4},{"step":"compare","duration_ms":0.001}],)"
            R"("events":[]})"
            "\n");
  EXPECT_EQ(asked, std::tuple(second_, 2U, Duration(milliseconds(200))));
}

TEST_F(ProbeRoute, OneThatFindsAFaultIsAnAnswer) {
  Comes(Code::kDone, Failed());
  Start();
  const Json reply = PostJson(kProbe, "", 200);
  EXPECT_EQ(reply["result"], "failed");
  EXPECT_EQ(reply["failed_step"], "reg_mr");
  EXPECT_EQ(reply["error"], "ibv_reg_mr: ENOMEM (Cannot allocate memory)");
  EXPECT_EQ(reply["hint"], "raise the limit of locked memory");
  EXPECT_TRUE(reply["gid"].is_null());
  EXPECT_EQ(reply["steps"].size(), 3U);
  EXPECT_EQ(reply["steps"][2], Json::parse(R"({"step":"reg_mr","duration_ms":0.007})"));
  EXPECT_EQ(reply["events"], Json::parse(R"(["device_fatal"])"));
}

TEST_F(ProbeRoute, WhatGivesNoResultSaysWhatToDo) {
  Start();
  const std::vector<std::tuple<Code, int, std::string, std::string>> cases = {
      {Code::kNotOpen, 409, "device_not_open", "/api/v1/devices/mlx5_0"},
      {Code::kUnknownPort, 404, "unknown_port", "/api/v1/ports"},
      {Code::kNever, 409, "data_path_never", "--data-path=on-demand"},
      {Code::kBusy, 409, "probe_running", "ask again"},
      {Code::kNoThread, 503, "no_thread", "pids.max"},
      {Code::kTimedOut, 504, "in_progress", "goes on"},
      {Code::kStopping, 503, "stopping", "when it runs"},
  };
  for (const auto& [outcome, status, code, hint] : cases) {
    Comes(outcome);
    const RawReply reply = Post(kProbe);
    EXPECT_EQ(reply.status, status) << code;
    const Json error = Json::parse(reply.body, nullptr, false)["error"];
    EXPECT_EQ(error["code"], code) << reply.body;
    EXPECT_NE(error["hint"].get<std::string>().find(hint), std::string::npos) << reply.body;
    EXPECT_EQ(reply.headers.count("retry-after"), status == 503 ? 1U : 0U) << code;
  }
  EXPECT_EQ(Actions("probe", "error"), cases.size());
}

TEST_F(ProbeRoute, WrongNamesAndParametersAskNobody) {
  bool asked = false;
  node_.on_probe = [&](DeviceId, uint32_t, Duration) {
    asked = true;
    return ProbeOutcome{Code::kDone, {}};
  };
  Start();
  EXPECT_EQ(CodeOf("/api/v1/ports/mlx5_9/1/probe", "", 404), "unknown_device");
  EXPECT_EQ(CodeOf("/api/v1/ports/mlx5_0/2/probe", "", 404), "unknown_port");
  EXPECT_EQ(CodeOf(kProbe, "size=1", 400), "unknown_parameter");
  EXPECT_EQ(Send(admin(), std::string("GET ") + kProbe).status, 405);
  EXPECT_EQ(Send(tcp(), std::string("POST ") + kProbe).status, 403) << "for operators only";
  EXPECT_FALSE(asked);
}

TEST_F(ProbeRoute, ADeviceThatHangsIsNotProbed) {
  bool asked = false;
  node_.on_probe = [&](DeviceId, uint32_t, Duration) {
    asked = true;
    return ProbeOutcome{Code::kTimedOut, {}};
  };
  options_.command_timeout = hours(1);
  node_.Stall(first_);
  Start();
  const Json error = PostJson(kProbe, "", 504)["error"];
  EXPECT_EQ(error["code"], "not_started");
  EXPECT_NE(error["message"].get<std::string>().find("hangs in query_port"), std::string::npos);
  EXPECT_NE(error["hint"].get<std::string>().find("ask again"), std::string::npos) << error;
  EXPECT_FALSE(asked);
}

TEST_F(ProbeRoute, AHeldPortMayBeProbed) {
  Comes(Code::kDone, Fine());
  Start();
  PostJson(kPort + "/pause", "reason=cable", 200);
  EXPECT_EQ(PostJson(kProbe, "", 200)["result"], "ok");
  EXPECT_NE(FindHold(first_, 1), nullptr) << "and stays held";
}

TEST_F(ProbeRoute, LogAndAuditSayWhatWasFound) {
  testing::LogCapture capture;
  Start();
  Comes(Code::kDone, Failed());
  PostJson(kProbe, "", 200);
  Comes(Code::kDone, Fine());
  PostJson(kProbe, "", 200);
  EXPECT_EQ(Actions("probe", "ok"), 2U);
  std::vector<std::string> actions = capture.Records();
  std::erase_if(actions, [](const std::string& one) { return !one.starts_with("INFO operator"); });
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_NE(actions[0].find("action=probe "), std::string::npos) << actions[0];
  EXPECT_NE(actions[0].find(" device=mlx5_0 port=1 "), std::string::npos) << actions[0];
  EXPECT_NE(actions[0].find(R"(found="failed at reg_mr: ibv_reg_mr: ENOMEM)"), std::string::npos)
      << actions[0];
  EXPECT_NE(actions[1].find(" found=ok status=200"), std::string::npos) << actions[1];
  ASSERT_EQ(node_.recorded.size(), 2U);
  EXPECT_EQ(node_.recorded[0].cause, "probe");
  EXPECT_EQ(node_.recorded[0].note, "failed at reg_mr: " + Failed().error);
}

// Release: "released" says that no handle of ours is left.

TEST_F(ProbeRoute, AReleaseIsPendingWhileAProbeRuns) {
  probing_ = true;
  Start();
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 202)["status"], "pending");
  EXPECT_EQ(PostJson("/api/v1/release", "reason=x", 202)["status"], "pending");
  probing_ = false;
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 200)["status"], "released");
  probing_ = true;
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/reopen", "", 200)["status"], "open")
      << "a reopen waits for none";
}

TEST_F(ProbeRoute, TheProbeOfADeviceThatIsGoneHoldsUpItsReleaseToo) {
  node_.Change(first_, [](DeviceSnapshot& device) { device.status = DeviceStatus::kAbsent; });
  node_.on_command = [](DeviceSnapshot&, const std::shared_ptr<Pending>&) {};
  probing_ = true;
  Start();
  PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 202);
  probing_ = false;
  PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 200);
}

TEST_F(ProbeRoute, AReleaseWaitsForTheEndOfAProbe) {
  options_.command_timeout = hours(1);
  std::atomic<int> asked = 0;
  node_.on_probing = [&](DeviceId) { return ++asked < 3; };
  Start();
  EXPECT_EQ(PostJson("/api/v1/devices/mlx5_0/release", "reason=x", 200)["status"], "released");
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace nicmon::http
