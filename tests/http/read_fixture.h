#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "http/http_test.h"

namespace nicmon::http {

/// A node of two devices, the second with two ports, read over TCP.
class ReadRoutes : public HttpTest {
 protected:
  ReadRoutes() {
    first_ = node_.Add("mlx5_0", "0000:3b:00.0");
    second_ = node_.Add("mlx5_1", "0000:0a:00.0", 2);
  }
  nlohmann::json GetJson(const std::string& path) {
    const RawReply reply = Get(path);
    EXPECT_EQ(reply.status, 200) << path << ": " << reply.body;
    EXPECT_EQ(reply.headers.at("content-type"), "application/json");
    EXPECT_EQ(reply.body.back(), '\n');
    return nlohmann::json::parse(reply.body, nullptr, false);
  }
  std::string ErrorCode(const RawReply& reply) {
    const nlohmann::json json = nlohmann::json::parse(reply.body, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << reply.body;
    EXPECT_FALSE(json["error"]["message"].get<std::string>().empty());
    return json["error"]["code"];
  }

  DeviceId first_ = 0, second_ = 0;
};

}  // namespace nicmon::http
