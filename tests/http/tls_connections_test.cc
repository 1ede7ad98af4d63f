#include <openssl/ssl.h>

#include <nlohmann/json.hpp>

#include "http/event_source.h"
#include "http/tls_fixture.h"
#include "testing/log_capture.h"
#include "testing/wait_for.h"

// Connections with TLS that are slow, idle, long or outlived by their configuration.
namespace nicmon::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

TEST_F(Tls, AHandshakeThatDripsRunsIntoTheRequestsDeadline) {
  options_.request_timeout = milliseconds(300);
  StartTls();
  RawClient client(tcp());
  const std::string hello("\x16\x03\x01\x40\x00\x01", 6);
  for (size_t sent = 0; client.Send(std::string(1, hello[sent % hello.size()])); ++sent) {
    if (client.WaitClosed(RawClient::Seconds(0.02))) {
      break;
    }
  }
  RawClient silent(tcp());
  EXPECT_TRUE(silent.WaitClosed());
  // So does a request behind a handshake: the time is one and the same.
  RawClient late(tcp(), Client());
  late.Send("GET");
  EXPECT_TRUE(late.WaitClosed());
  EXPECT_TRUE(WaitFor([&] { return Rejected("timeout") == 3U; }));
}

TEST_F(Tls, RubbishIsRefused) {
  StartTls();
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x00\x05hello", 10), std::string("\x16\xff\xff\xff\xff", 5),
        std::string("\x16\x03\x01\x40\x00", 5) + std::string(16384, '\xff')}) {
    RawClient client(tcp());
    client.Send(bytes);
    EXPECT_TRUE(client.WaitClosed());
  }
  EXPECT_TRUE(WaitFor([&] { return Rejected("tls") == 3U; }));
  EXPECT_EQ(Ask(Client(), "GET /healthz"), 200);
}

TEST_F(Tls, NobodyNegotiatesAgain) {
  StartTls();
  ClientTls twelve = Client();
  twelve.max_version = TLS1_2_VERSION;
  RawClient client(tcp(), twelve);
  ASSERT_TRUE(client.secure());
  EXPECT_EQ(http::Ask(client, "GET /healthz").value().status, 200);
  ::SSL_renegotiate(client.ssl());
  (void)::SSL_do_handshake(client.ssl());
  client.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(client.Receive(false, RawClient::Seconds(10)) &&
               ::SSL_num_renegotiations(client.ssl()) > 0);
}

TEST_F(Tls, IdleHandshakesDoNotKeepHealthFromAnswering) {
  options_.request_timeout = seconds(60);
  StartTls();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(std::make_unique<RawClient>(tcp()));
    idle.back()->Send("\x16");
  }
  EXPECT_EQ(Ask(Client(), "GET /healthz"), 200);
  EXPECT_LE(stats_->Read().connections, 64);
}

TEST_F(Tls, AStreamAndItsEnd) {
  StartTls("", kUsers);
  EventSource source(tcp(), Client(), kPassword);
  EXPECT_EQ(source.Head().rfind("HTTP/1.1 200 OK", 0), 0U);
  EXPECT_EQ(source.Next().name, "retry: 2000");
  EXPECT_EQ(source.Next().name, "snapshot");
  Transition event;
  event.seq = 7;
  event.type = TransitionType::kLink;
  event.device = "mlx5_0";
  event.port = 1;
  server_->stream_listener()(std::vector<Transition>{event});
  std::string name;
  while ((name = source.Next().name) != "port" && !name.empty()) {
  }
  EXPECT_EQ(name, "port");
  EXPECT_TRUE(server_->Stop(seconds(30)));
  while (!source.Next().name.empty()) {
  }
}

TEST_F(Tls, AReplyUnderWayGetsOutWhenTheServerStops) {
  std::shared_ptr<Pending> asked;
  std::atomic<bool> queued{false};
  options_.command_timeout = seconds(60);
  node_.on_command = [&](DeviceSnapshot&, const std::shared_ptr<Pending>& pending) {
    asked = pending;
    queued = true;
  };
  StartTls();
  RawClient client(tcp(), Client());
  client.Send("POST /api/v1/ports/mlx5_0/1/requery HTTP/1.1\r\nHost: a\r\n" + kToken + "\r\n");
  ASSERT_TRUE(WaitFor([&] { return queued.load(); }));
  server_->Close();
  EXPECT_TRUE(asked->Start());
  CommandResult stopping;
  stopping.code = CommandResult::Code::kStopping;
  asked->Finish(stopping);
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 503);
  EXPECT_TRUE(server_->Stop(seconds(10)));
}

TEST_F(Tls, ANewConfigIsInForceForNewConnectionsAndEndsOldOnes) {
  StartTls();
  RawClient idle(tcp(), Client());
  EXPECT_EQ(http::Ask(idle, "GET /metrics").value().status, 200);
  EventSource source(tcp(), Client());
  EXPECT_FALSE(source.Head().empty());
  WriteWebConfig(authority_, "", kUsers, "renewed");
  server_->Reload();
  EXPECT_TRUE(idle.WaitClosed());
  while (!source.Next().name.empty()) {
  }
  RawClient client(tcp(), Client());
  EXPECT_EQ(client.ServerName(), "renewed");
  EXPECT_EQ(http::Ask(client, "GET /metrics").value().status, 401);
  WriteFile("web.yml", "oops\n");
  server_->Reload();
  EXPECT_FALSE(server_->config_reload_ok());
  EXPECT_EQ(http::Ask(client, "GET /metrics", kPassword).value().status, 200)
      << "nothing has changed";
  WriteFile("web.yml", kUsers);
  server_->Reload();
  EXPECT_TRUE(server_->config_reload_ok());
  EXPECT_TRUE(client.WaitClosed());
  EXPECT_EQ(Get("/metrics", kPassword).status, 200) << "plain by now";
}

// Nobody but a client that cannot trust the old certificate any more may come by.
TEST_F(Tls, ARenewedCertificateIsFoundByTheConnectionThatNeedsIt) {
  StartTls();
  RawClient idle(tcp(), Client());
  EXPECT_EQ(http::Ask(idle, "GET /healthz").value().status, 200);
  const Authority next("next");
  WriteWebConfig(next);
  EXPECT_TRUE(WaitFor([&] { return Ask({next.pem()}, "GET /healthz") == 200; }));
  EXPECT_TRUE(idle.WaitClosed());
}

}  // namespace
}  // namespace nicmon::http
