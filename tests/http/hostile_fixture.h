#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "http/http_test.h"

namespace nicmon::http {

/// A node of one device whose server meets clients that misbehave.
class Hostile : public HttpTest {
 protected:
  static inline const std::string kGet = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";

  /// Seconds on the steady clock.
  static double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  Hostile() {
    node_.Add("mlx5_0", "0000:3b:00.0");
    options_.request_timeout = std::chrono::seconds(5);
    options_.write_timeout = std::chrono::seconds(5);
  }
  uint64_t Rejected(const std::string& reason) { return stats_->Read().rejected.at(reason); }

  /// The bytes get one error reply of that status, then the connection ends.
  void ExpectRefused(const std::string& bytes, int status, const std::string& what) {
    RawClient client(tcp());
    client.Send(bytes);
    const auto reply = client.Receive();
    ASSERT_TRUE(reply) << what;
    EXPECT_EQ(reply->status, status) << what;
    EXPECT_EQ(reply->headers.at("connection"), "close") << what;
    const nlohmann::json json = nlohmann::json::parse(reply->body, nullptr, false);
    EXPECT_TRUE(json.is_object() && json.contains("error")) << what << ": " << reply->body;
    EXPECT_FALSE(client.Receive()) << what << ": the rest was taken for a request";
    EXPECT_TRUE(client.WaitClosed()) << what;
  }

  /// A server whose device lets its first command wait, until AnswerStopping().
  void StartWithoutAnswers() {
    options_.command_timeout = std::chrono::seconds(60);
    node_.on_command = [this](DeviceSnapshot&, const std::shared_ptr<Pending>& pending) {
      pending_ = pending;
      queued_ = true;
    };
    Start();
  }
  /// Returns once the device has the command.
  void SendRequery(RawClient& client) {
    client.Send("POST /api/v1/ports/mlx5_0/1/requery HTTP/1.1\r\nHost: a\r\n\r\n");
    while (!queued_) {
      std::this_thread::yield();
    }
  }
  void AnswerStopping() {
    EXPECT_TRUE(pending_->Start());
    CommandResult stopping;
    stopping.code = CommandResult::Code::kStopping;
    pending_->Finish(stopping);
  }

 private:
  std::shared_ptr<Pending> pending_;
  std::atomic<bool> queued_{false};
};

}  // namespace nicmon::http
