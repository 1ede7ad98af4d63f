// The web config file: what is understood, what is refused, and how it changes.
#include "http/web_settings.h"

#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <thread>
#include <vector>

#include "http/certificates.h"
#include "http/http_test.h"
#include "http/web_config.h"
#include "testing/fake_clock.h"
#include "testing/log_capture.h"

namespace nicmon::http {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Parse(const std::string& text, WebSettings* settings = nullptr) {
  WebSettings unused;
  return ParseWebSettings(text, "/etc/nicmon", settings == nullptr ? &unused : settings);
}

TEST(WebSettings, TakesWhatTheToolkitDoes) {
  WebSettings settings;
  ASSERT_EQ(Parse(R"(# comment
tls_server_config:
  cert_file: tls/server.pem
  key_file: /run/keys/server.key
  client_auth_type: "RequireAndVerifyClientCert"
  client_ca_file: ca.pem
  client_allowed_sans:
    - prometheus.example
    - 10.0.0.1
  min_version: TLS12
  max_version: TLS13
  cipher_suites:
    - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
    - TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305
    - TLS_AES_128_GCM_SHA256
  curve_preferences: [X25519, CurveP256]
  prefer_server_cipher_suites: false
http_server_config:
  http2: false
  headers:
    X-Frame-Options: deny
    Strict-Transport-Security: max-age=31536000; includeSubDomains
basic_auth_users:
  prometheus: )" + kPasswordHash +
                      "\n  'other user': " + kPasswordHash + "\n",
                  &settings),
            "");
  ASSERT_TRUE(settings.tls);
  EXPECT_EQ(settings.tls->cert_file, "/etc/nicmon/tls/server.pem");
  EXPECT_EQ(settings.tls->key_file, "/run/keys/server.key");
  EXPECT_EQ(settings.tls->client_auth, ClientAuth::kRequireAndVerify);
  EXPECT_EQ(settings.tls->client_allowed_sans,
            (std::vector<std::string>{"prometheus.example", "10.0.0.1"}));
  EXPECT_EQ(settings.tls->min_version, TLS1_2_VERSION);
  EXPECT_EQ(settings.tls->ciphers, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305");
  EXPECT_EQ(settings.tls->ciphersuites, "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(settings.tls->groups, "X25519:P-256");
  EXPECT_FALSE(settings.tls->prefer_server_ciphers);
  EXPECT_EQ(settings.headers.size(), 2U);
  EXPECT_EQ(settings.users.size(), 2U);
}

TEST(WebSettings, AllClientAuthTypes) {
  const std::pair<const char*, ClientAuth> types[] = {
      {"NoClientCert", ClientAuth::kNone},
      {"RequestClientCert", ClientAuth::kRequest},
      {"RequireAnyClientCert", ClientAuth::kRequireAny},
      {"RequireClientCert", ClientAuth::kRequireAny},
      {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
      {"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerify}};
  for (const auto& [name, type] : types) {
    const bool verifies =
        type == ClientAuth::kVerifyIfGiven || type == ClientAuth::kRequireAndVerify;
    WebSettings settings;
    const std::string text = "tls_server_config:\n  cert_file: a\n  key_file: b\n" +
                             std::string("  client_auth_type: ") + name + "\n";
    const std::string ca = "  client_ca_file: c\n";
    EXPECT_EQ(Parse(text + (verifies ? ca : ""), &settings), "") << name;
    EXPECT_EQ(settings.tls->client_auth, type);
    EXPECT_THAT(Parse(text + (verifies ? "" : ca)), HasSubstr("client_ca_file")) << name;
  }
}

TEST(WebSettings, OnlyTls13SuitesMeanOnlyTls13) {
  WebSettings settings;
  const std::string text =
      "tls_server_config:\n  cert_file: a\n  key_file: b\n"
      "  cipher_suites: [TLS_AES_256_GCM_SHA384]\n";
  EXPECT_EQ(Parse(text, &settings), "");
  EXPECT_EQ(settings.tls->min_version, TLS1_3_VERSION);
  EXPECT_THAT(Parse(text + "  max_version: TLS12\n"), HasSubstr("no version of TLS"));
}

TEST(WebSettings, ErrorsNameTheLineAndWhatIsAccepted) {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
  const std::pair<std::string, std::string> cases[] = {
      {"- a\n", "line 1: wants settings"},
      {"x\n", "line 1: wants settings"},
      {"tls_config:\n  cert_file: a\n",
       "line 1: unknown key \"tls_config\", accepted are tls_server_config, http_server_config"},
      {"rate_limit:\n  burst: 1\n", "line 1: unknown key \"rate_limit\""},
      {"basic_auth_users: []\n", "line 1: basic_auth_users: wants users"},
      {"basic_auth_users:\n  a: plain-password\n", "line 2: user \"a\": not a bcrypt hash"},
      {"basic_auth_users:\n  a: [b]\n", "line 2: user \"a\": not a bcrypt hash"},
      {"basic_auth_users:\n  a:b: " + kPasswordHash + "\n", "line 2: a user's name"},
      {"basic_auth_users:\n  a: " + kPasswordHash + "\n  a: " + kPasswordHash + "\n",
       "line 3: user \"a\" is given twice"},
      {"basic_auth_users:\n  a: $2b$20$" + kPasswordHash.substr(7) + "\n", "above 15"},
      {"basic_auth_users:\n  a: $2x$10$" + kPasswordHash.substr(7) + "\n", "not a bcrypt hash"},
      {"tls_server_config: []\n", "wants settings"},
      {"tls_server_config:\n  cert_file: a\n", "cert_file and key_file are both needed"},
      {tls + "  cert: inline\n", "line 4: unknown key \"cert\", accepted are cert_file, key_file"},
      {tls + "  key_file: c\n", "line 4: key_file is given twice"},
      {tls + "  client_ca_file:\n", "line 4: client_ca_file: wants a text"},
      {tls + "  client_auth_type: Yes\n",
       "line 4: client_auth_type: \"Yes\" is not accepted, give NoClientCert, "},
      {tls + "  client_auth_type: RequireAndVerifyClientCert\n", "needs client_ca_file"},
      {tls + "  client_allowed_sans: [a]\n", "mean nothing unless"},
      {tls + "  client_allowed_sans: a\n", "line 4: client_allowed_sans: wants a list"},
      {tls + "  client_allowed_sans:\n    - a\n    - [b]\n", "line 6: wants a text"},
      {tls + "  min_version: TLS10\n", "not safe any more"},
      {tls + "  min_version: 1.2\n", "\"1.2\" is not accepted, give TLS12, TLS13"},
      {tls + "  min_version: TLS13\n  max_version: TLS12\n", "no version of TLS"},
      {tls + "  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n",
       "\"TLS_RSA_WITH_RC4_128_SHA\" is not accepted, give TLS_ECDHE_"},
      {tls + "  curve_preferences: [P-256]\n", "give CurveP256"},
      {tls + "  prefer_server_cipher_suites: maybe\n",
       "line 4: prefer_server_cipher_suites: wants true or false"},
      {"http_server_config:\n  http2: true\n", "line 2: http2: HTTP/2 is not spoken"},
      {"http_server_config:\n  timeout: 1\n",
       "line 2: unknown key \"timeout\", accepted are http2, headers"},
      {"http_server_config:\n  headers:\n    X-Powered-By: a\n",
       "line 3: unknown key \"X-Powered-By\""},
      {"http_server_config:\n  headers:\n    X-Frame-Options: allow\n",
       "line 3: X-Frame-Options: \"allow\" is not accepted"},
      {"http_server_config:\n  headers:\n    X-XSS-Protection: \"a\\r\\nb\"\n",
       "line 3: X-XSS-Protection: wants a text of one line"},
      {"a: b: c\n", "line 1: not YAML"},
      {"basic_auth_users:\n  a: " + kPasswordHash + "\n---\nb: c\n",
       "line 4: only one YAML document"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = Parse(text);
    EXPECT_THAT(error, AllOf(HasSubstr(expected), Not(HasSubstr("\n")))) << text;
    EXPECT_THAT(error,
                AllOf(Not(HasSubstr("plain-password")), Not(HasSubstr(kPasswordHash.substr(7)))))
        << "nothing secret";
  }
}

// Each of them starts prometheus-node-exporter, without TLS and without passwords.
TEST(WebSettings, WhatIsLeftEmptyMeansNone) {
  const auto is_none = [](const std::string& text, bool unsaid) {
    WebSettings settings;
    EXPECT_EQ(Parse(text, &settings), "") << text;
    EXPECT_FALSE(settings.tls) << text;
    EXPECT_TRUE(settings.users.empty()) << text;
    EXPECT_TRUE(settings.headers.empty()) << text;
    EXPECT_EQ(settings.unsaid, unsaid) << text;
  };
  for (const char* text : {"{}\n", "tls_server_config: {}\n", "basic_auth_users: {}\n",
                           "http_server_config: {}\n", "http_server_config:\n  headers: {}\n"}) {
    is_none(text, false);
  }
  for (const char* text :
       {"", "\n", "# only a comment\n", "null\n", "---\n", "tls_server_config:\n",
        "basic_auth_users:\n", "http_server_config:\n"}) {
    is_none(text, true);
  }
}

TEST(Passwords, RightWrongAndUnknown) {
  Passwords passwords;
  const Users users = {{"user", kPasswordHash}};
  using Result = Passwords::Result;
  EXPECT_FALSE(passwords.Known(users, "user", "right"));
  for (int i = 0; i < 2; ++i) {  // computed, then known
    EXPECT_EQ(passwords.Check(users, "user", "right"), Result::kRight);
    EXPECT_EQ(passwords.Check(users, "user", "wrong"), Result::kWrong);
    EXPECT_EQ(passwords.Check(users, "nobody", "right"), Result::kWrong);
    EXPECT_EQ(passwords.Check(users, "", ""), Result::kWrong);
    EXPECT_EQ(passwords.Check(users, "user", std::string("right\0x", 7)), Result::kWrong);
  }
  EXPECT_EQ(passwords.Known(users, "user", "right"), Result::kRight);
  EXPECT_EQ(passwords.Known(users, "user", "wrong"), Result::kWrong);
  // Guesses never push out who was right, and a new hash asks for a new look.
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(passwords.Check(users, "user", std::to_string(i)), Result::kWrong);
  }
  EXPECT_EQ(passwords.Known(users, "user", "right"), Result::kRight);
  EXPECT_FALSE(passwords.Known(users, "user", "wrong")) << "kept results are bounded";
  EXPECT_FALSE(passwords.Known({{"user", kPasswordHash.substr(0, 59) + "u"}}, "user", "right"));
}

TEST(Passwords, ThoseWhoWaitForTheSameAnswerAllGetIt) {
  Passwords passwords;
  // Takes long enough for all of them to come meanwhile.
  const Users users = {{"user", "$2b$10$xXa3d6oqnuvm842yv5CvOeOhkDZapddKLUm6/E.jV02FqnYn1KsUG"}};
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      right += passwords.Check(users, "user", "right") == Passwords::Result::kRight ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 8);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(4)) << "somebody was forgotten";
}

class WebConfigTest : public HttpTest {
 protected:
  WebConfigTest() { path_ = WriteWebConfig(authority_); }
  Reread Look(WebConfigFile& file) {
    clock_.Advance(seconds(2));
    return file.Poll();
  }

  nicmon::testing::FakeClock clock_;
  Authority authority_;
  std::string path_;
};

TEST_F(WebConfigTest, WhatIsWrongAtTheStartStopsIt) {
  EXPECT_EQ(WebConfigFile::Problem(path_), "");
  EXPECT_EQ(WebConfigProblem(path_), "");
  const Issued other = authority_.Issue("other", "");
  const auto problem = [&](const std::string& file, const std::string& text) {
    const std::string path = WriteWebConfig(authority_);
    WriteFile(file, text);
    const std::string why = WebConfigFile::Problem(path);
    EXPECT_THROW(WebConfigFile(path, clock_.clock()), std::runtime_error);
    return why;
  };
  EXPECT_THAT(problem("server.key", other.key), HasSubstr("does not go with the certificate"));
  EXPECT_THAT(problem("server.key", "nonsense"),
              AllOf(StartsWith("key_file "), HasSubstr("no PEM private key in it")));
  EXPECT_THAT(problem("server.key",
                      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGb\n"
                      "-----END ENCRYPTED PRIVATE KEY-----\n"),
              HasSubstr("without a passphrase"));
  EXPECT_THAT(problem("server.pem", ""), HasSubstr("no PEM certificate in it"));
  EXPECT_THAT(problem("server.pem", other.cert.substr(0, 200)),
              HasSubstr("no PEM certificate in it"));
  WriteWebConfig(authority_);
  directory_.Remove("server.pem");
  EXPECT_THAT(WebConfigFile::Problem(path_), AllOf(StartsWith("cert_file "), HasSubstr("ENOENT")));
  EXPECT_THAT(WebConfigFile::Problem(directory_.Path("none").string()), HasSubstr("ENOENT"));
  options_.web_config_file = path_;
  EXPECT_THROW(Start(), std::runtime_error);
}

TEST_F(WebConfigTest, AChangedCertificateIsTakenAndABadEditLeavesTheLastGoodOne) {
  WebConfigFile file(path_, clock_.clock());
  const auto first = file.current();
  EXPECT_EQ(Look(file), Reread::kUnchanged);
  WriteWebConfig(authority_);  // a new certificate and key, the same text
  EXPECT_EQ(file.Poll(), Reread::kUnchanged) << "looked at once a second";
  EXPECT_EQ(Look(file), Reread::kTaken);
  const auto second = file.current();
  EXPECT_NE(first, second);
  WriteFile("server.pem", "half a certif");
  EXPECT_EQ(Look(file), Reread::kRefused);
  EXPECT_EQ(Look(file), Reread::kUnchanged) << "complained about once";
  EXPECT_FALSE(file.ok());
  EXPECT_EQ(file.current(), second);
  directory_.Remove("server.pem");
  EXPECT_EQ(Look(file), Reread::kRefused);
  EXPECT_EQ(Look(file), Reread::kUnchanged);
  WriteWebConfig(authority_);
  EXPECT_EQ(Look(file), Reread::kTaken);
  EXPECT_TRUE(file.ok());
  WriteFile("web.yml", "tls_server_config: oops\n");
  EXPECT_EQ(Look(file), Reread::kRefused);
  EXPECT_NE(file.current()->tls, nullptr) << "TLS is never switched off by a mistake";
  WriteFile("web.yml", "");
  EXPECT_EQ(Look(file), Reread::kRefused);
  EXPECT_NE(file.current()->tls, nullptr);
  WriteFile("web.yml", "tls_server_config:\n");
  EXPECT_EQ(Look(file), Reread::kRefused);
  EXPECT_NE(file.current()->tls, nullptr);
  WriteFile("web.yml", "basic_auth_users:\n  user: " + kPasswordHash + "\n");
  EXPECT_EQ(file.Reload(), Reread::kTaken);
  EXPECT_EQ(file.current()->tls, nullptr);
  WriteFile("web.yml", "basic_auth_users:\n");
  EXPECT_EQ(Look(file), Reread::kRefused);
  EXPECT_FALSE(file.current()->settings.users.empty()) << "neither are passwords";
  WriteFile("web.yml", "{}\n");
  EXPECT_EQ(Look(file), Reread::kTaken) << "that has been said";
  EXPECT_TRUE(file.current()->settings.users.empty());
}

TEST_F(WebConfigTest, AnEmptyFileIsTakenAtTheStartAndWhileNothingIsInForce) {
  WriteFile("web.yml", "");
  EXPECT_EQ(WebConfigFile::Problem(path_), "");
  WebConfigFile file(path_, clock_.clock());
  EXPECT_EQ(file.current()->tls, nullptr);
  WriteFile("web.yml", "# nothing yet\n");
  EXPECT_EQ(Look(file), Reread::kTaken);
  EXPECT_TRUE(file.ok());
}

TEST_F(WebConfigTest, AClientAuthorityThatChangesIsTakenToo) {
  const std::string path = WriteWebConfig(
      authority_, "  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ca.pem\n");
  WebConfigFile file(path, clock_.clock());
  WriteFile("ca.pem", Authority("another").pem());
  EXPECT_EQ(Look(file), Reread::kTaken);
}

// A Kubernetes secret is a directory behind a symlink that is replaced.
TEST_F(WebConfigTest, ASecretThatIsSwappedBySymlink) {
  const auto version = [&](const std::string& name) {
    const Issued own = authority_.Issue(name, "");
    directory_.File(name + "/tls.crt", own.cert);
    directory_.File(name + "/tls.key", own.key);
  };
  version("..2026_01");
  directory_.Link("..data", "..2026_01");
  directory_.Link("tls.crt", "..data/tls.crt");
  directory_.Link("tls.key", "..data/tls.key");
  WriteFile("web.yml", "tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n");
  WebConfigFile file(path_, clock_.clock());
  version("..2026_02");
  EXPECT_EQ(Look(file), Reread::kUnchanged);
  directory_.Link("..data_tmp", "..2026_02");
  std::filesystem::rename(directory_.Path("..data_tmp"), directory_.Path("..data"));
  EXPECT_EQ(Look(file), Reread::kTaken);
}

TEST_F(WebConfigTest, NothingSecretIsLogged) {
  const std::string path =
      WriteWebConfig(authority_, "", "basic_auth_users:\n  user: " + kPasswordHash + "\n");
  nicmon::testing::LogCapture log;
  WebConfigFile file(path, clock_.clock());
  WriteFile("web.yml", "basic_auth_users:\n  user: " + kPasswordHash + "x\n");
  EXPECT_EQ(Look(file), Reread::kRefused);
  std::string text;
  for (const std::string& record : log.Records()) {
    text += record + "\n";
  }
  EXPECT_THAT(text, AllOf(HasSubstr("web config file read"), HasSubstr("certificate_until=20"),
                          HasSubstr("not a bcrypt hash"), Not(HasSubstr(kPasswordHash.substr(7)))));
}

}  // namespace
}  // namespace nicmon::http
