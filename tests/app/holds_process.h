#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/child.h"
#include "testing/temp_tree.h"
#include "testing/wait_for.h"

namespace nicmon {

inline constexpr int kDevices = 4;
inline constexpr std::chrono::milliseconds kLong(20000);

/// The real process on a state directory of its own, asked over its admin socket.
class HoldsProcess : public ::testing::Test {
 protected:
  using Json = nlohmann::json;

  void Start(const std::vector<std::string>& flags = {},
             const std::vector<std::string>& environment = {}) {
    child_.reset();
    std::vector<std::string> arguments = {NICMON_PROGRAM,
                                          "--simulate=devices=" + std::to_string(kDevices),
                                          "--simulate-force",
                                          "--listen=127.0.0.1:0",
                                          "--log-level=warning",
                                          "--admin-socket=" + Socket(),
                                          "--state-dir=" + StateDir()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    child_.emplace(arguments, testing::Child::Options(), environment);
    ASSERT_TRUE(
        testing::WaitFor([&] { return testing::ConnectUnix(Socket()) || child_->Wait({}); }));
    ASSERT_EQ(child_->Wait(std::chrono::milliseconds(0)), std::nullopt) << child_->Output();
  }
  void Kill() {
    child_->Signal(SIGKILL);
    EXPECT_EQ(child_->Wait(kLong), 128 + SIGKILL);
  }
  void Stop() {
    child_->Signal(SIGTERM);
    EXPECT_EQ(child_->Wait(kLong), 0);
  }
  std::string Socket() const { return tree_.Path("admin.sock").string(); }
  std::string StateDir() const { return tree_.Path("state").string(); }

  /// The whole reply; "" when there was none.
  std::string Ask(const std::string& method, const std::string& target,
                  const std::string& body = {}) const {
    const UniqueFd socket = testing::ConnectUnix(Socket());
    return socket
               ? testing::Exchange(
                     socket.get(),
                     method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close" +
                         "\r\nContent-Type: application/x-www-form-urlencoded" +
                         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
                     kLong)
               : "";
  }
  static int Status(const std::string& reply) {
    return reply.size() > 12 ? std::stoi(reply.substr(9, 3)) : 0;
  }
  Json Get(const std::string& path) const {
    const std::string reply = Ask("GET", path);
    const size_t body = reply.find("\r\n\r\n");
    return body == std::string::npos ? Json() : Json::parse(reply.substr(body + 4), nullptr, false);
  }
  static std::string Port(int device) {
    return "/api/v1/ports/mlx5_" + std::to_string(device) + "/1";
  }
  /// Every device has shown its port.
  bool AllKnown() const { return Get("/api/v1/ports").value("ports", Json()).size() == kDevices; }

  /// Reasons of the holds in force, by device.
  std::map<std::string, std::string> Held() const {
    std::map<std::string, std::string> held;
    const Json page = Get("/api/v1/holds");
    const Json holds = page.value("holds", Json());
    for (const Json& hold : holds) {
      held[hold["device"]] = hold["reason"];
    }
    return held;
  }
  /// The devices whose port does not serve for an operator's sake, by reason.
  std::map<std::string, std::string> Paused() const {
    std::map<std::string, std::string> paused;
    const Json page = Get("/api/v1/ports");
    const Json ports = page.value("ports", Json());
    for (const Json& port : ports) {
      for (const Json& pause : port["paused"]) {
        if (pause["reason"] == "admin") {
          EXPECT_EQ(port["serving"], false);
          paused[port["device"]] = pause["note"];
        }
      }
    }
    return paused;
  }
  std::string Metric(const std::string& name) const {
    const std::string page = Ask("GET", "/metrics");
    const size_t at = page.find("\n" + name + " ");
    return at == std::string::npos ? "" : page.substr(at + name.size() + 2, 1);
  }

  testing::TempTree tree_;
  std::optional<testing::Child> child_;
};

}  // namespace nicmon
