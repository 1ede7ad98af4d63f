#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "http/http_test.h"

namespace nicmon::http {

/// A node of two devices, the second with two ports, whose operator routes answer on the socket.
class OperatorRoutes : public HttpTest {
 protected:
  static inline const std::string kPort = "/api/v1/ports/mlx5_0/1";

  OperatorRoutes() {
    first_ = node_.Add("mlx5_0", "0000:3b:00.0");
    second_ = node_.Add("mlx5_1", "0000:0a:00.0", 2);
    options_.command_timeout = std::chrono::milliseconds(200);
  }
  nlohmann::json PostJson(const std::string& path, const std::string& form, int status) {
    const RawReply reply = Post(path, form);
    EXPECT_EQ(reply.status, status) << path << ": " << reply.body;
    nlohmann::json json = nlohmann::json::parse(reply.body, nullptr, false);
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

}  // namespace nicmon::http
