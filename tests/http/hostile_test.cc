#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "http/http_test.h"

namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kGet = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

long ResidentKiB() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * (::getpagesize() / 1024);
}

class Hostile : public HttpTest {
 protected:
  Hostile() {
    node_.Add("mlx5_0", "0000:3b:00.0");
    options_.request_timeout = seconds(5);
    options_.write_timeout = seconds(5);
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
    const Json json = Json::parse(reply->body, nullptr, false);
    EXPECT_TRUE(json.is_object() && json.contains("error")) << what << ": " << reply->body;
    EXPECT_FALSE(client.Receive()) << what << ": the rest was taken for a request";
    EXPECT_TRUE(client.WaitClosed()) << what;
  }

  /// A server whose device lets its first command wait, until AnswerStopping().
  void StartWithoutAnswers() {
    options_.command_timeout = seconds(60);
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

TEST_F(Hostile, MalformedRequestsAreRefusedAndTheConnectionEnds) {
  Start();
  const std::string end = "\r\n";
  const std::string smuggled = kGet + end;
  const std::vector<std::pair<std::string, int>> cases = {
      {"GET /healthz\r\n\r\n", 400},
      {"GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /healthz HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", 400},
      {"GET /healthz HTTP/1.1\nHost: localhost\n\n", 400},
      {"GET /healthz HTTP/1.1\r\n\r\n", 400},  // no Host
      {"GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"FOO /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"G@T /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {std::string("\x16\x03\x01\x02", 4), 400},  // TLS
      {"\xff\xff\xff\xff", 400},
      {kGet + "X: a\rb\r\n\r\n", 400},
      {kGet + "X: a\nY: b\r\n\r\n", 400},
      {kGet + std::string("X: a\0b\r\n\r\n", 10), 400},
      {kGet + "X : a\r\n\r\n", 400},
      {kGet + " folded\r\n\r\n", 400},
      {kGet + "no colon\r\n\r\n", 400},
      {kGet + ": empty\r\n\r\n", 400},
      {kGet + "Host: again\r\n\r\n", 400},
      {kGet + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: -1\r\n\r\n" + smuggled, 400},
      {kGet + "Content-Length: +5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: 5, 5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: 0x5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: \r\n\r\n" + smuggled, 400},
      {kGet + "Content-Length: 65537\r\n\r\n" + smuggled, 413},
      {kGet + "Content-Length: 99999999999999999999999\r\n\r\n" + smuggled, 413},
      {kGet + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
      {kGet + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled, 400},
      {kGet + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + smuggled, 400},
      {kGet + "transfer-encoding: identity\r\n\r\n" + smuggled, 400},
      {kGet + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde" + smuggled, 400},
      {"GET /" + std::string(2000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET /?" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET /" + std::string(20'000, 'a'), 400},
      {kGet + "X: " + std::string(17'000, 'a') + "\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : cases) {
    ExpectRefused(bytes, status, bytes.substr(0, 200));
  }
  EXPECT_EQ(Rejected("malformed") + Rejected("too_large"), cases.size());
}

TEST_F(Hostile, AHundredThousandHeadersCostNothing) {
  Start();
  std::string many = kGet;
  for (int i = 0; i < 101; ++i) {
    many += "a" + std::to_string(i) + ": b\r\n";
  }
  ExpectRefused(many + "\r\n", 400, "101 headers");
  RawClient client(tcp());
  many.clear();
  for (int i = 0; i < 100'000; ++i) {
    many += "a: b\r\n";
  }
  const long before = ResidentKiB();
  client.Send(kGet + many + "\r\n");
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  EXPECT_LT(ResidentKiB() - before, 4096);
}

TEST_F(Hostile, AnEndlessHeaderIsCutOff) {
  Start();
  RawClient client(tcp());
  client.Send(kGet + "X: ");
  const std::string chunk(64 * 1024, 'a');
  const long before = ResidentKiB();
  int sent = 0;
  while (sent < 1000 && client.Send(chunk)) {
    ++sent;
  }
  EXPECT_LT(sent, 1000);  // it would be 64 MB
  EXPECT_LT(ResidentKiB() - before, 4096);
}

TEST_F(Hostile, AnUploadThatIsTooLargeGetsItsReply) {
  Start();
  RawClient client(tcp());
  const std::string body(1'000'000, 'x');
  client.Send(
      "POST /api/v1/release HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  std::thread upload([&] { client.Send(body); });
  const auto reply = client.Receive();
  upload.join();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
}

TEST_F(Hostile, SlowClientsRunIntoAnAbsoluteDeadline) {
  options_.request_timeout = milliseconds(300);
  Start();
  RawClient client(tcp());
  const double start = Now();
  // A byte now and then would keep a per-read timeout from ever firing.
  size_t sent = 0;
  while (Now() - start < 10 && client.Send(std::string(1, kGet[sent % kGet.size()]))) {
    ++sent;
    if (client.WaitClosed(RawClient::Seconds(0.02))) {
      break;
    }
  }
  EXPECT_LT(Now() - start, 10);
  EXPECT_EQ(Rejected("timeout"), 1U);
}

TEST_F(Hostile, ABodyThatNeverComesRunsIntoTheDeadline) {
  options_.request_timeout = milliseconds(200);
  Start();
  RawClient client(admin());
  client.Send("POST /api/v1/release HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_TRUE(client.WaitClosed(RawClient::Seconds(10)));
}

TEST_F(Hostile, AReplyNobodyReadsRunsIntoTheDeadline) {
  node_.metrics = std::string(16 * 1024 * 1024, 'x');
  options_.write_timeout = milliseconds(200);
  Start();
  RawClient client(tcp());
  client.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (stats_->Read().requests.empty()) {
    std::this_thread::yield();  // the deadline ends it, else the test's own timeout
  }
  while (stats_->Read().connections != 0) {
    std::this_thread::yield();
  }
}

TEST_F(Hostile, RangesAreIgnored) {
  Start();
  std::string ranges = "Range: bytes=0-1";
  for (int i = 0; i < 1500; ++i) {
    ranges += ",0-1";
  }
  const RawReply reply = Get("/metrics", ranges + "\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, node_.metrics);
  EXPECT_EQ(Get("/metrics", "Range: bytes=99999-\r\n").status, 200);
  EXPECT_EQ(Get("/metrics", "Range: rubbish\r\n").status, 200);
}

TEST_F(Hostile, EncodedHeaderValuesAreNotDecoded) {
  // The library would decode them: %0d%0a in a header must stay four plain bytes.
  options_.admin_token_file = WriteFile("tokens", "a:one\n");
  Start();
  EXPECT_EQ(Send(tcp(), "POST /api/v1/release?reason=x", "Authorization: Bearer on%65\r\n").status,
            401);
  EXPECT_EQ(Get("/api/v1/devices/%0d%0aX-Injected:%20yes").headers.count("x-injected"), 0U);
}

TEST_F(Hostile, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawClient client(tcp());
  client.Send("\r\n" + kGet +
              "\r\nGET /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc" + kGet +
              "Connection: close\r\n\r\n");
  EXPECT_EQ(client.Receive()->status, 200);
  EXPECT_EQ(client.Receive()->status, 404);
  const auto last = client.Receive();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->status, 200);
  EXPECT_EQ(last->headers.at("connection"), "close");
  EXPECT_TRUE(client.WaitClosed());
}

TEST_F(Hostile, KeepAliveFollowsTheVersion) {
  Start();
  RawClient old(tcp());
  old.Send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.Receive()->headers.at("connection"), "close");
  EXPECT_TRUE(old.WaitClosed());
  RawClient kept(tcp());
  kept.Send("GET /healthz HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
  EXPECT_EQ(kept.Receive()->status, 200);
  kept.Send(kGet + "\r\n");
  EXPECT_EQ(kept.Receive()->status, 200);
}

TEST_F(Hostile, ExpectContinue) {
  Start();
  RawClient client(admin());
  client.Send(
      "POST /api/v1/ports/mlx5_0/1/pause HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
      "Content-Length: 8\r\n\r\n");
  EXPECT_EQ(client.Receive()->status, 100);
  client.Send("reason=x");
  EXPECT_EQ(client.Receive()->status, 200);
}

TEST_F(Hostile, TwoHundredIdleConnectionsDoNotKeepHealthFromAnswering) {
  options_.request_timeout = seconds(60);
  Start();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<RawClient>(tcp()));
    idle.back()->Send("GET");  // as slow clients do
  }
  for (int i = 0; i < 20; ++i) {
    const double start = Now();
    EXPECT_EQ(Get("/healthz").status, 200);
    EXPECT_LT(Now() - start, 10);  // not by a timeout of theirs
  }
  EXPECT_LE(stats_->Read().connections, 64);
  EXPECT_GE(Rejected("connection_limit"), 136U);
}

TEST_F(Hostile, TheLongestWaitingConnectionGoesFirst) {
  options_.max_connections = 2;
  Start();
  RawClient busy(tcp());
  busy.Send(kGet + "\r\n");
  ASSERT_TRUE(busy.Receive());
  RawClient idle(tcp());
  while (stats_->Read().connections < 2) {
    std::this_thread::yield();
  }
  // Later than the other's start, so `idle` has been waiting longer.
  idle.Send("GET /he");
  busy.Send(kGet + "\r\n");
  ASSERT_TRUE(busy.Receive());
  RawClient third(tcp());
  third.Send(kGet + "\r\n");
  EXPECT_TRUE(third.Receive());
  EXPECT_TRUE(idle.WaitClosed());
  busy.Send(kGet + "\r\n");
  EXPECT_TRUE(busy.Receive());
}

TEST_F(Hostile, WhenAllAreBusyANewConnectionIsToldSo) {
  options_.max_connections = 1;
  StartWithoutAnswers();
  RawClient busy(admin());
  SendRequery(busy);
  RawClient refused(admin());
  const auto reply = refused.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->headers.count("retry-after"), 1U);
  EXPECT_EQ(Get("/healthz").status, 200);  // the other listener has its own
  AnswerStopping();
  EXPECT_EQ(busy.Receive()->status, 503);
}

TEST_F(Hostile, ManyClientsAtOnce) {
  Start();
  std::vector<std::thread> clients;
  std::atomic<int> ok{0};
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back([&] {
      RawClient client(tcp());
      for (int n = 0; n < 20; ++n) {
        client.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const auto reply = client.Receive();
        ok += reply && reply->status == 200 && reply->body == node_.metrics ? 1 : 0;
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(ok, 1000);
  ASSERT_TRUE(server_->Stop(seconds(10)));  // a request counts once its reply is out
  EXPECT_EQ(stats_->Read().requests.at(200), 1000U);
}

// A client must not find the connection gone in the middle of its next request.
TEST_F(Hostile, TheLastReplyOfAConnectionSaysThatItCloses) {
  Start();
  RawClient client(tcp());
  int replies = 0;
  for (bool closing = false; !closing; ++replies) {
    ASSERT_LT(replies, 2000);
    client.Send(kGet + "\r\n");
    const auto reply = client.Receive();
    ASSERT_TRUE(reply) << "closed without a word after " << replies;
    const auto connection = reply->headers.find("connection");
    closing = connection != reply->headers.end() && connection->second == "close";
  }
  EXPECT_EQ(replies, 1000);
  EXPECT_TRUE(client.WaitClosed());
}

TEST_F(Hostile, StopIsFastWithIdleHalfSentAndUnreadConnections) {
  node_.metrics = std::string(16 * 1024 * 1024, 'x');
  options_.request_timeout = options_.write_timeout = seconds(30);
  Start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 30; ++i) {
    clients.push_back(std::make_unique<RawClient>(i % 2 == 0 ? tcp() : admin()));
  }
  for (size_t i = 0; i < clients.size(); ++i) {
    clients[i]->Send(kGet + (i % 3 == 0 ? "" : "\r\n"));
    if (i % 3 != 0) {
      ASSERT_TRUE(clients[i]->Receive());
    }
  }
  clients[1]->Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");  // never read
  const std::string socket = admin();
  const double start = Now();
  // Every timeout is 30 s or more: what ends sooner was ended. Milliseconds, when nobody else runs.
  EXPECT_TRUE(server_->Stop(seconds(60)));
  EXPECT_LT(Now() - start, 10);
  EXPECT_FALSE(std::filesystem::exists(socket));
  for (const auto& client : clients) {
    EXPECT_TRUE(client->WaitClosed());
  }
}

TEST_F(Hostile, StopLetsAReplyUnderWayOut) {
  StartWithoutAnswers();
  RawClient client(admin());
  SendRequery(client);
  server_->Close();
  EXPECT_FALSE(std::filesystem::exists(admin()));
  AnswerStopping();
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "stopping");
  EXPECT_TRUE(server_->Stop(seconds(10)));
}

}  // namespace
}  // namespace nicmon::http
