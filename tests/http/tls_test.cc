// TLS on the wire: who is let in, what is refused, and that all else works as without.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "http/event_source.h"
#include "http/http_test.h"
#include "testing/log_capture.h"
#include "testing/wait_for.h"

namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

// "right", at the least cost that bcrypt has.
const std::string kUsers =
    "basic_auth_users:\n  user: $2b$04$r23obX5hmfO1v8fGP1vOjOYo6ybUXTejKH4BAPNmAX5a7IOx1/6U.\n";
const std::string kPassword = "Authorization: Basic dXNlcjpyaWdodA==\r\n";
const std::string kWrongPassword = "Authorization: Basic dXNlcjp3cm9uZw==\r\n";
const std::string kToken = "Authorization: Bearer s3cret\r\n";
const std::string kCa = "  client_ca_file: ca.pem\n";
const std::string kResume = "POST /api/v1/ports/mlx5_0/1/resume";

class Tls : public HttpTest {
 protected:
  Tls() {
    node_.Add("mlx5_0", "0000:3b:00.0");
    options_.request_timeout = options_.write_timeout = seconds(10);
    options_.admin_token_file = WriteFile("tokens", "ops:s3cret\n");
  }
  void StartTls(const std::string& more = "", const std::string& rest = "") {
    server_.reset();  // the one before, where a test starts several
    options_.web_config_file = WriteWebConfig(authority_, more, rest);
    Start();
  }
  uint64_t Rejected(const std::string& reason) { return stats_->Read().rejected.at(reason); }
  /// 0: TLS did not let it in.
  int Ask(const ClientTls& tls, const std::string& what, const std::string& headers = "") {
    RawClient client(tcp(), tls);
    const auto reply = client.secure() ? http::Ask(client, what, headers) : std::nullopt;
    return reply ? reply->status : 0;
  }
  ClientTls Client() const { return {authority_.pem()}; }
  ClientTls With(const Issued& own) const { return {authority_.pem(), own}; }

  Authority authority_;
  const Issued client_ = authority_.Issue("prometheus", "DNS:prometheus.example");
  const Issued stranger_ = Authority("others").Issue("prometheus", "DNS:prometheus.example");
};

TEST_F(Tls, RepliesAndKeepsTheConnection) {
  node_.metrics = std::string(3'000'000, 'x');
  StartTls();
  RawClient client(tcp(), Client());
  ASSERT_TRUE(client.secure());
  EXPECT_EQ(client.ServerName(), "localhost");
  for (int i = 0; i < 3; ++i) {
    const auto reply = http::Ask(client, "GET /metrics");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body.size(), node_.metrics.size());
    EXPECT_EQ(http::Ask(client, "HEAD /metrics")->status, 200);
    EXPECT_EQ(http::Ask(client, kResume, kToken, std::string(60'000, ' '))->status, 200);
  }
  client.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /nope HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Receive()->status, 200);
  EXPECT_EQ(client.Receive()->status, 404) << "pipelined, and no name is foreign with TLS";
  EXPECT_EQ(stats_->Read().connections, 1);
  EXPECT_EQ(http::Ask(client, "GET /healthz", "Connection: close\r\n")->status, 200);
  EXPECT_TRUE(client.WaitClosed());
  EXPECT_NE(::SSL_get_shutdown(client.ssl()) & SSL_RECEIVED_SHUTDOWN, 0) << "as if cut off";
  EXPECT_EQ(Send(admin(), "GET /metrics").status, 200) << "the socket is never TLS";
}

TEST_F(Tls, VersionsCiphersAndAlpn) {
  StartTls(
      "  min_version: TLS12\n  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n"
      "  curve_preferences: [CurveP384]\n");
  ClientTls old = Client();
  old.max_version = TLS1_1_VERSION;
  EXPECT_EQ(Ask(old, "GET /healthz"), 0);
  ClientTls twelve = Client();
  twelve.max_version = TLS1_2_VERSION;
  RawClient client(tcp(), twelve);
  ASSERT_TRUE(client.secure());
  EXPECT_STREQ(::SSL_get_cipher_name(client.ssl()), "ECDHE-ECDSA-AES256-GCM-SHA384");
  EXPECT_EQ(::SSL_get_negotiated_group(client.ssl()), NID_secp384r1);
  twelve.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
  EXPECT_EQ(Ask(twelve, "GET /healthz"), 0) << "is not on the list";
  ClientTls alpn = Client();
  alpn.alpn = "\x02h2\x08http/1.1";
  RawClient both(tcp(), alpn);
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  ::SSL_get0_alpn_selected(both.ssl(), &chosen, &length);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), length), "http/1.1");
  alpn.alpn = "\x02h2";
  EXPECT_EQ(Ask(alpn, "GET /healthz"), 0);
  // The old client of a newer OpenSSL does not even begin.
  EXPECT_TRUE(WaitFor([&] { return Rejected("tls") >= 2U; }));
}

TEST_F(Tls, WhoIsLetIn) {
  struct Case {
    const char* type;
    bool users;
    int none, stranger, verified;  // of GET /metrics; 0: by TLS already
    int password;                  // with it and no certificate
  };
  const Case cases[] = {
      {"NoClientCert", false, 200, 200, 200, 200},
      {"NoClientCert", true, 401, 401, 401, 200},
      {"RequestClientCert", false, 200, 200, 200, 200},
      {"RequestClientCert", true, 401, 401, 401, 200},
      {"RequireAnyClientCert", false, 0, 200, 200, 0},
      {"RequireAnyClientCert", true, 0, 401, 401, 0},
      {"VerifyClientCertIfGiven", false, 200, 0, 200, 200},
      {"VerifyClientCertIfGiven", true, 401, 0, 200, 200},
      {"RequireAndVerifyClientCert", false, 0, 0, 200, 0},
      {"RequireAndVerifyClientCert", true, 0, 0, 200, 0},
  };
  for (const Case& one : cases) {
    const std::string type = one.type;
    StartTls("  client_auth_type: " + type + "\n" +
                 (type.find("Verify") == std::string::npos ? "" : kCa),
             one.users ? kUsers : "");
    EXPECT_EQ(Ask(Client(), "GET /metrics"), one.none) << type << one.users;
    EXPECT_EQ(Ask(With(stranger_), "GET /metrics"), one.stranger) << type << one.users;
    EXPECT_EQ(Ask(With(client_), "GET /metrics"), one.verified) << type << one.users;
    EXPECT_EQ(Ask(Client(), "GET /metrics", kPassword), one.password) << type << one.users;
    EXPECT_EQ(Ask(Client(), "GET /metrics", kToken), one.password) << type << one.users;
    EXPECT_EQ(Ask(Client(), "GET /healthz"), one.password) << type << one.users;
    // A token, and nothing else, operates.
    EXPECT_EQ(Ask(With(client_), kResume), 401) << type << one.users;
    EXPECT_EQ(Ask(With(client_), kResume, kPassword), 401) << type << one.users;
    EXPECT_EQ(Ask(With(client_), kResume, kToken), 200) << type << one.users;
    EXPECT_EQ(Ask(Client(), kResume, kToken), one.password) << type << one.users;
  }
}

TEST_F(Tls, OnlyNamesOnTheListAreLetIn) {
  StartTls("  client_auth_type: VerifyClientCertIfGiven\n" + kCa +
               "  client_allowed_sans: [prometheus.example, 10.0.0.1, spiffe://a/b]\n",
           kUsers);
  EXPECT_EQ(Ask(With(client_), "GET /metrics"), 200);
  EXPECT_EQ(Ask(With(authority_.Issue("x", "IP:10.0.0.1")), "GET /metrics"), 200);
  EXPECT_EQ(Ask(With(authority_.Issue("x", "DNS:y,URI:spiffe://a/b")), "GET /metrics"), 200);
  EXPECT_EQ(Ask(With(authority_.Issue("prometheus.example", "")), "GET /metrics"), 0)
      << "a common name is no alternative name";
  EXPECT_EQ(Ask(With(authority_.Issue("x", "DNS:prometheus.example.evil")), "GET /metrics"), 0);
  EXPECT_EQ(Ask(With(authority_.Issue("x", "DNS:prometheus.example", -10)), "GET /metrics"), 0)
      << "has run out";
  EXPECT_EQ(Ask(Client(), "GET /metrics", kPassword), 200);
}

TEST_F(Tls, TheCertificatesNameIsInLogAndAudit) {
  StartTls("  client_auth_type: VerifyClientCertIfGiven\n" + kCa);
  const std::pair<Issued, const char*> names[] = {
      {client_, "token=ops cert=prometheus.example"},
      {authority_.Issue("Jump Host", ""), "token=ops cert=Jump Host"},
      {authority_.Issue("a\nb", ""), "token=ops cert=serial:"}};
  for (const auto& [own, who] : names) {
    ASSERT_EQ(Ask(With(own), kResume, kToken), 200);
    ASSERT_FALSE(node_.recorded.empty());
    EXPECT_EQ(node_.recorded.back().who.rfind(who, 0), 0U) << node_.recorded.back().who;
  }
  ASSERT_EQ(Ask(Client(), kResume, kToken), 200);
  EXPECT_EQ(node_.recorded.back().who, "token=ops");
}

TEST_F(Tls, PlainHttpGetsAWordInPlain) {
  StartTls();
  RawClient client(tcp());
  client.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "tls_required");
  EXPECT_TRUE(client.WaitClosed());
  EXPECT_TRUE(WaitFor([&] { return Rejected("malformed") == 1U; }));
}

TEST_F(Tls, PasswordsWithoutTls) {
  options_.web_config_file = WriteFile("web.yml", kUsers);
  Start();
  EXPECT_EQ(Get("/metrics").status, 401);
  EXPECT_EQ(Get("/metrics", kPassword).status, 200);
  EXPECT_EQ(Get("/metrics", kWrongPassword).status, 401);
  EXPECT_EQ(Get("/healthz").status, 200);
  EXPECT_EQ(Get("/").status, 401);
  EXPECT_EQ(Send(admin(), "GET /metrics").status, 200);
}

TEST_F(Tls, PasswordsThatCrossTheNetworkInClearTextAreWarnedOf) {
  const auto warnings = [&](const std::string& listen, bool tls, const std::string& rest,
                            bool allow_plaintext = false) {
    server_.reset();
    options_.listen_host = listen;
    options_.admin_allow_plaintext = allow_plaintext;
    options_.web_config_file =
        tls ? WriteWebConfig(authority_, "", rest) : WriteFile("web.yml", rest);
    nicmon::testing::LogCapture capture;
    Start();
    server_->Reload();
    const auto records = capture.Records();
    return std::count_if(records.begin(), records.end(), [](const std::string& record) {
      return record.starts_with("WARNING passwords cross the network in clear text");
    });
  };
  const std::string headers = "http_server_config:\n  headers:\n    X-Frame-Options: deny\n";
  EXPECT_EQ(warnings("0.0.0.0", false, kUsers), 2);  // and again with each reading
  EXPECT_EQ(warnings("::", false, kUsers), 2);
  EXPECT_EQ(warnings("127.0.0.1", false, kUsers), 0);
  EXPECT_EQ(warnings("::1", false, kUsers), 0);
  EXPECT_EQ(warnings("::", true, kUsers), 0);
  EXPECT_EQ(warnings("::", false, headers), 0);
  EXPECT_EQ(warnings("::", false, kUsers, true), 0);  // somebody else encrypts
}

TEST_F(Tls, ConfiguredHeaders) {
  StartTls("",
           "http_server_config:\n  headers:\n    X-Frame-Options: deny\n"
           "    Content-Security-Policy: default-src 'none'\n");
  RawClient client(tcp(), Client());
  const auto reply = http::Ask(client, "GET /api/v1/ports");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->headers.at("x-frame-options"), "deny");
  EXPECT_EQ(reply->headers.at("content-security-policy"), "default-src 'none'");
  EXPECT_EQ(http::Ask(client, "GET /")->headers.at("content-security-policy").rfind("default-src"),
            0U)
      << "the page has its own, once";
  EXPECT_EQ(Send(admin(), "GET /api/v1/ports").headers.count("x-frame-options"), 0U);
}

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
  EXPECT_EQ(http::Ask(client, "GET /healthz")->status, 200);
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
  EXPECT_EQ(http::Ask(idle, "GET /metrics")->status, 200);
  EventSource source(tcp(), Client());
  EXPECT_FALSE(source.Head().empty());
  WriteWebConfig(authority_, "", kUsers, "renewed");
  server_->Reload();
  EXPECT_TRUE(idle.WaitClosed());
  while (!source.Next().name.empty()) {
  }
  RawClient client(tcp(), Client());
  EXPECT_EQ(client.ServerName(), "renewed");
  EXPECT_EQ(http::Ask(client, "GET /metrics")->status, 401);
  WriteFile("web.yml", "oops\n");
  server_->Reload();
  EXPECT_FALSE(server_->config_reload_ok());
  EXPECT_EQ(http::Ask(client, "GET /metrics", kPassword)->status, 200) << "nothing has changed";
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
  EXPECT_EQ(http::Ask(idle, "GET /healthz")->status, 200);
  const Authority next("next");
  WriteWebConfig(next);
  EXPECT_TRUE(WaitFor([&] { return Ask({next.pem()}, "GET /healthz") == 200; }));
  EXPECT_TRUE(idle.WaitClosed());
}

}  // namespace
}  // namespace nicmon::http
