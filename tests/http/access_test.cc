#include "http/access.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "http/http_test.h"
#include "http/token_file.h"
#include "nicmon/base/unique_fd.h"
#include "testing/log_capture.h"

namespace nicmon::http {
namespace {

using Json = nlohmann::json;

const std::string kResume = "POST /api/v1/ports/mlx5_0/1/resume";

/// As docs/api.md says that it is made.
std::string HashOf(const std::string& token) {
  FILE* pipe = ::popen(("printf %s " + token + " | sha256sum | cut -c1-64").c_str(), "r");
  std::array<char, 65> text{};
  EXPECT_NE(::fgets(text.data(), text.size(), pipe), nullptr);
  ::pclose(pipe);
  return text.data();
}

class Access : public HttpTest {
 protected:
  Access() { node_.Add("mlx5_0", "0000:3b:00.0"); }
  RawReply Resume(const std::string& headers) { return Send(tcp(), kResume, headers); }
  static std::string CodeOf(const RawReply& reply) {
    return Json::parse(reply.body)["error"]["code"];
  }
};

TEST_F(Access, OperatorRoutesOverTcpAreOffWithoutTokens) {
  Start();
  const RawReply reply = Resume("Authorization: Bearer x\r\n");
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(CodeOf(reply), "operator_disabled");
  EXPECT_EQ(Send(admin(), kResume).status, 200);
  EXPECT_EQ(Get("/api/v1/ports").status, 200);
  EXPECT_EQ(stats_->Read().admin_actions.at({"resume", "denied"}), 1U);
  EXPECT_EQ(stats_->Read().rejected.at("forbidden"), 1U);
}

TEST_F(Access, BearerTokens) {
  const std::string digest = HashOf("hashed");
  options_.admin_token_file =
      WriteFile("tokens", "# two of them\n\nops:s3cret\r\n  ci:sha256:" + digest + "\n");
  Start();
  RawReply reply = Resume("");
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.headers.at("www-authenticate"), "Bearer realm=\"nicmon\"");
  for (const char* wrong : {"Bearer S3cret", "Bearer s3cret2", "Bearer ", "Basic s3cret", "s3cret",
                            "Bearer ops:s3cret", "Bearer sha256:"}) {
    EXPECT_EQ(Resume("Authorization: " + std::string(wrong) + "\r\n").status, 401) << wrong;
  }
  EXPECT_EQ(Resume("Authorization: Bearer " + digest + "\r\n").status, 401);
  EXPECT_EQ(Resume("Authorization: Bearer s3cret\r\n").status, 200);
  EXPECT_EQ(Resume("authorization: bearer   hashed\r\n").status, 200);
  const RawReply pause =
      Send(tcp(), "POST /api/v1/ports/mlx5_0/1/pause?reason=x", "Authorization: Bearer hashed\r\n");
  EXPECT_EQ(Json::parse(pause.body)["hold"]["by"], "token=ci");
}

TEST_F(Access, TokenFileErrorsStopTheStart) {
  for (const char* text :
       {"", "# nothing\n", "no colon\n", ":token\n", "a b:token\n", "name:\n", "name:sha256:abc\n",
        "name:two words\n", "name:sha512:abc\n", "name:SHA256:abc\n", "name:md5:abc\n"}) {
    options_.admin_token_file = WriteFile("tokens", text);
    try {
      Start();
      ADD_FAILURE() << "taken: " << text;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).find("token\n"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(options_.admin_token_file), std::string::npos);
    }
  }
  options_.admin_token_file = "/nonexistent/tokens";
  EXPECT_THROW(Start(), std::runtime_error);
}

TEST_F(Access, NoNameAndNoTokenStandsThereTwice) {
  const struct {
    std::string text, error;
  } kCases[] = {
      {"ops:first-of-two\n# rotated\nops:second-of-two\n",
       "line 3: the name ops is that of line 1 already: give each token a name of its own, by "
       "which "
       "log and audit know it"},
      {"ops:shared-by-two\nci:another\ndev:shared-by-two\n",
       "line 3: the token of dev is that of line 1 already, of ops: give each name a token of its "
       "own"},
      {"ops:hashed\nci:sha256:" + HashOf("hashed") + "\n",
       "line 2: the token of ci is that of line 1 already, of ops: give each name a token of its "
       "own"},
      {"ops:same\nops:same\n",
       "line 2: the name ops is that of line 1 already: give each token a name of its own, by "
       "which "
       "log and audit know it"},
  };
  for (const auto& [text, error] : kCases) {
    EXPECT_EQ(TokenFile::Problem(WriteFile("tokens", text)), error) << text;
  }
  // After an edit the tokens from before it stay, none of them in part.
  options_.admin_token_file = WriteFile("tokens", "ops:one\n");
  Start();
  WriteFile("tokens", "ops:one\nops:two\n");
  server_->Reload();
  EXPECT_FALSE(server_->config_reload_ok());
  EXPECT_EQ(Resume("Authorization: Bearer two\r\n").status, 401);
  EXPECT_EQ(Resume("Authorization: Bearer one\r\n").status, 200);
  WriteFile("tokens", "ops:one\nops-new:two\n");
  server_->Reload();
  EXPECT_TRUE(server_->config_reload_ok());
  EXPECT_EQ(Resume("Authorization: Bearer two\r\n").status, 200);
}

TEST_F(Access, AShortTokenIsTakenWithAWarning) {
  const std::string path = WriteFile(
      "tokens",
      "# short\nops:fifteen-letters\nci:sixteen--letters\nold:sha256:" + HashOf("x") + "\n");
  nicmon::testing::LogCapture capture;
  TokenFile tokens(path, Clock::Real());
  EXPECT_EQ(tokens.Check("fifteen-letters"), "ops");
  WriteFile("tokens", "other:short\n");
  EXPECT_EQ(tokens.Reload(), Reread::kTaken);
  std::vector<std::string> warnings = capture.Records();
  std::erase_if(warnings, [](const std::string& one) { return !one.starts_with("WARNING"); });
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("line=2 name=ops"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("line=1 name=other"), std::string::npos) << warnings[1];
  for (const std::string& warning : warnings) {
    EXPECT_EQ(warning.find("fifteen-letters"), std::string::npos) << warning;
    EXPECT_EQ(warning.find("=short"), std::string::npos) << warning;
  }
}

TEST_F(Access, TokensAreReadAgainAndABadEditLeavesTheLastGoodOnes) {
  options_.admin_token_file = WriteFile("tokens", "a:one\n");
  Start();
  WriteFile("tokens", "a:two\nb:three\n");
  server_->Reload();
  EXPECT_EQ(Resume("Authorization: Bearer one\r\n").status, 401);
  EXPECT_EQ(Resume("Authorization: Bearer three\r\n").status, 200);
  EXPECT_TRUE(server_->config_reload_ok());
  WriteFile("tokens", "oops\n");
  server_->Reload();
  EXPECT_FALSE(server_->config_reload_ok());
  EXPECT_EQ(Resume("Authorization: Bearer three\r\n").status, 200);
  std::filesystem::remove(options_.admin_token_file);
  server_->Reload();
  EXPECT_FALSE(server_->config_reload_ok());
  WriteFile("tokens", "a:four\n");
  server_->Reload();
  EXPECT_TRUE(server_->config_reload_ok());
  EXPECT_EQ(Resume("Authorization: Bearer four\r\n").status, 200);
}

TEST_F(Access, TokenFileIsLookedAtOnceASecond) {
  SteadyTime now{};
  Clock clock{[&now] { return now; }, [] { return WallTime(); }};
  const std::string path = WriteFile("tokens", "a:one\n");
  TokenFile tokens(path, clock);
  WriteFile("tokens", "a:other\n");
  tokens.Poll();
  EXPECT_TRUE(tokens.Check("one"));
  now += std::chrono::seconds(2);
  tokens.Poll();
  EXPECT_FALSE(tokens.Check("one"));
  EXPECT_EQ(tokens.Check("other"), "a");
  // A Kubernetes secret changes by a symlink that points elsewhere.
  WriteFile("next", "a:third\n");
  std::filesystem::rename(directory_.Path("next"), path);
  now += std::chrono::seconds(2);
  tokens.Poll();
  EXPECT_EQ(tokens.Check("third"), "a");
}

TEST_F(Access, AFileThatCannotBeOpenedIsComplainedAboutOnce) {
  SteadyTime now{};
  Clock clock{[&now] { return now; }, [] { return WallTime(); }};
  const std::string path = WriteFile("tokens", "a:one\n");
  TokenFile tokens(path, clock);
  std::filesystem::remove(path);
  sockaddr_un address{};  // a socket has a status but cannot be opened, not even by root
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  for (const Reread expected : {Reread::kRefused, Reread::kUnchanged, Reread::kUnchanged}) {
    now += std::chrono::seconds(2);
    EXPECT_EQ(tokens.Poll(), expected);
  }
  EXPECT_FALSE(tokens.ok());
  EXPECT_TRUE(tokens.Check("one"));
}

TEST_F(Access, PlaintextFromAnotherHostIsRefused) {
  Service service;
  service.tokens = std::make_unique<TokenFile>(WriteFile("tokens", "a:one\n"), Clock::Real());
  Request request;
  request.peer.address = "192.0.2.7";
  request.headers = {{"authorization", "Bearer one"}};
  EXPECT_EQ(AuthorizeOperator(service, request).error.status, 403);
  service.options.admin_allow_plaintext = true;
  EXPECT_EQ(*AuthorizeOperator(service, request), "token=a");
  service.options.admin_allow_plaintext = false;
  request.peer.loopback = true;
  EXPECT_EQ(*AuthorizeOperator(service, request), "token=a");
}

TEST_F(Access, LoopbackIsKnownInBothFamilies) {
  options_.listen_host = "::";
  options_.admin_token_file = WriteFile("tokens", "a:one\n");
  Start();
  const std::string port = tcp().substr(tcp().rfind(':'));
  for (const char* host : {"127.0.0.1", "[::1]"}) {
    EXPECT_EQ(Send(host + port, kResume, "Authorization: Bearer one\r\n").status, 200) << host;
  }
}

TEST_F(Access, CrossSiteRequestsAreRefused) {
  options_.admin_token_file = WriteFile("tokens", "a:one\n");
  Start();
  const std::string token = "Authorization: Bearer one\r\n";
  for (const char* header :
       {"Origin: http://evil.example", "Origin: null", "Origin: http://localhost.evil.example",
        "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: none"}) {
    const RawReply reply = Resume(token + header + "\r\n");
    EXPECT_EQ(reply.status, 403) << header;
    EXPECT_EQ(CodeOf(reply), "cross_site") << header;
  }
  EXPECT_EQ(Resume(token + "Origin: http://localhost\r\n").status, 200);
  EXPECT_EQ(Resume(token + "Sec-Fetch-Site: same-origin\r\n").status, 200);
  EXPECT_EQ(Get("/api/v1/ports", "Sec-Fetch-Site: cross-site\r\n").status, 200);
  EXPECT_EQ(stats_->Read().rejected.at("cross_site"), 6U);
}

TEST_F(Access, ForeignHostNames) {
  for (const char* own :
       {"localhost", "localhost:9879", "LOCALHOST.", "127.0.0.1:80", "10.1.2.3", "[::1]:9879",
        "[fe80::1]", "node7", "node7.rack.example:80", "Node7", "gpu-1"}) {
    EXPECT_TRUE(IsOwnHost(own, "node7.cluster", "gpu-1")) << own;
  }
  for (const char* foreign :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "node70",
        "node7evil.example", "[evil.example]", "::1", "[::1", "xnode7", "0x7f.1", "127.1"}) {
    EXPECT_FALSE(IsOwnHost(foreign, "node7.cluster", "gpu-1")) << foreign;
  }
  Start();
  RawClient client(tcp());
  client.Send("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 403);
  EXPECT_EQ(CodeOf(*reply), "foreign_host");
  client.Send("GET /metrics HTTP/1.1\r\nHost: gpu-1.example:80\r\n\r\n");
  EXPECT_EQ(client.Receive().value().status, 200);
  client.Send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.Receive().value().status, 200);
  RawClient socket(admin());
  socket.Send("GET /metrics HTTP/1.1\r\nHost: anything\r\n\r\n");
  EXPECT_EQ(socket.Receive().value().status, 200);
}

}  // namespace
}  // namespace nicmon::http
