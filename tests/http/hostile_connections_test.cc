#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "http/hostile_fixture.h"

// Connections that are slow, idle or too many, and the server's stop with such.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

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
  EXPECT_EQ(busy.Receive().value().status, 503);
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

TEST_F(Hostile, AReplyThatIsNotMadeInTimeDoesNotKeepTheClientWaiting) {
  StartWithoutAnswers();
  RawClient client(admin());
  SendRequery(client);
  EXPECT_FALSE(server_->Stop(Duration(0)));
  EXPECT_TRUE(client.WaitClosed()) << "while it is still being made";
  AnswerStopping();
  EXPECT_TRUE(server_->Stop(seconds(10)));
}

}  // namespace
}  // namespace nicmon::http
