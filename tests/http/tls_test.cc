#include <openssl/ssl.h>

#include <nlohmann/json.hpp>

#include "http/event_source.h"
#include "http/tls_fixture.h"
#include "testing/log_capture.h"
#include "testing/wait_for.h"

// TLS on the wire: who is let in, what is refused, and that all else works as without.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using testing::WaitFor;

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
    EXPECT_EQ(http::Ask(client, "HEAD /metrics").value().status, 200);
    EXPECT_EQ(http::Ask(client, kResume, kToken, std::string(60'000, ' ')).value().status, 200);
  }
  client.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /nope HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Receive().value().status, 200);
  EXPECT_EQ(client.Receive().value().status, 404) << "pipelined, and no name is foreign with TLS";
  EXPECT_EQ(stats_->Read().connections, 1);
  EXPECT_EQ(http::Ask(client, "GET /healthz", "Connection: close\r\n").value().status, 200);
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
  EXPECT_EQ(
      http::Ask(client, "GET /").value().headers.at("content-security-policy").rfind("default-src"),
      0U)
      << "the page has its own, once";
  EXPECT_EQ(Send(admin(), "GET /api/v1/ports").headers.count("x-frame-options"), 0U);
}

}  // namespace
}  // namespace nicmon::http
