// Who may do what: every route, as the table of routes has it, by every method, with every
// credential, on every listener.
#include <algorithm>
#include <set>

#include "http/access.h"
#include "http/http_test.h"
#include "http/route_table.h"
#include "http/service.h"

namespace nicmon::http {
namespace {

enum class Credential {
  kNone,
  kGarbage,
  kWrongUser,
  kWrongPassword,
  kPassword,
  kWrongToken,
  kToken,
  kCertificate
};
constexpr Credential kCredentials[] = {Credential::kNone,      Credential::kGarbage,
                                       Credential::kWrongUser, Credential::kWrongPassword,
                                       Credential::kPassword,  Credential::kWrongToken,
                                       Credential::kToken,     Credential::kCertificate};

std::string Header(Credential credential) {
  switch (credential) {
    case Credential::kGarbage:
      return "Basic ????";
    case Credential::kWrongUser:
      return "Basic bm9ib2R5OnJpZ2h0";  // nobody:right
    case Credential::kWrongPassword:
      return "Basic dXNlcjp3cm9uZw==";  // user:wrong
    case Credential::kPassword:
      return "Basic dXNlcjpyaWdodA==";  // user:right
    case Credential::kWrongToken:
      return "Bearer s3cret2";
    case Credential::kToken:
      return "Bearer s3cret";
    case Credential::kNone:
    case Credential::kCertificate:
      break;
  }
  return "";
}

enum class Listener { kSocket, kLoopback, kRemote, kTls };
constexpr Listener kListeners[] = {Listener::kSocket, Listener::kLoopback, Listener::kRemote,
                                   Listener::kTls};
constexpr const char* kMethods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"};

/// What is set up on the server.
struct Given {
  bool users;
  bool tokens;
  bool allow_plaintext;
};
constexpr Given kGiven[] = {{false, false, false},
                            {false, true, false},
                            {true, true, false},
                            {true, true, true},
                            {true, false, true}};

/// The contract, written a second time: 0 is "the handler answers".
int Refusal(const Given& given, Access access, Listener listener, Credential credential) {
  const bool token = given.tokens && credential == Credential::kToken;
  if (access == Access::kOpen || listener == Listener::kSocket) {
    return 0;
  }
  if (access == Access::kRead) {
    const bool opened = token || credential == Credential::kPassword ||
                        (credential == Credential::kCertificate && listener == Listener::kTls);
    return !given.users || opened ? 0 : 401;
  }
  if (!given.tokens || (listener == Listener::kRemote && !given.allow_plaintext)) {
    return 403;
  }
  return token ? 0 : 401;
}

class AccessTable : public HttpTest {
 protected:
  AccessTable() {
    options_.refused_rate = options_.token_rate = options_.socket_rate = {1e6, 1e6};
    options_.command_timeout = std::chrono::milliseconds(1);
    node_.with_simulator = true;
    node_.Add("mlx5_0", "0000:3b:00.0");
  }

  std::unique_ptr<Service> MakeService(const Given& given) {
    options_.admin_allow_plaintext = given.allow_plaintext;
    auto service = std::make_unique<Service>(options_);
    service->backend = node_.MakeBackend();
    service->stats = stats_;
    service->stream = std::make_shared<StreamHub>(options_.stream, service->backend.view,
                                                  service->about, service->stats);
    if (given.tokens) {
      service->tokens =
          std::make_unique<TokenFile>(WriteFile("tokens", "ops:s3cret\n"), Clock::Real());
    }
    if (given.users) {
      const std::string text =
          "basic_auth_users:\n  user: " + kPasswordHash + "\n  late: " + kPasswordHash + "\n";
      service->web = std::make_unique<WebConfigFile>(WriteFile("web.yml", text), Clock::Real());
    }
    return service;
  }

  static Request MakeRequest(const std::string& method, const std::string& path, Listener listener,
                             Credential credential) {
    Request request;
    request.method = method;
    request.path = path;
    request.headers = {{"host", "localhost"}};
    if (const std::string header = Header(credential); !header.empty()) {
      request.headers.emplace_back("authorization", header);
    }
    Peer& peer = request.peer;
    peer.admin_socket = listener == Listener::kSocket;
    peer.uid = peer.admin_socket ? std::optional<uid_t>(1000) : std::nullopt;
    peer.loopback = listener == Listener::kLoopback;
    peer.tls = listener == Listener::kTls;
    peer.address = peer.admin_socket ? "" : peer.loopback ? "127.0.0.1" : "192.0.2.7";
    peer.certificate =
        peer.tls && credential == Credential::kCertificate ? "prometheus.example" : "";
    return request;
  }

  static std::string PathOf(const Route& route) {
    std::string path(route.pattern);
    for (const auto& [name, value] :
         {std::pair{"{device}", "mlx5_0"}, std::pair{"{port}", "1"}, std::pair{"{id}", "h1"}}) {
      if (const size_t at = path.find(name); at != std::string::npos) {
        path.replace(at, std::string_view(name).size(), value);
      }
    }
    return path;
  }
};

/// nullptr: no such method there.
const Route* RouteOf(std::string_view pattern, std::string_view method) {
  const auto routes = Routes();
  const auto found = std::find_if(routes.begin(), routes.end(), [&](const Route& route) {
    return route.pattern == pattern && route.method == (method == "HEAD" ? "GET" : method);
  });
  return found == routes.end() ? nullptr : &*found;
}

TEST_F(AccessTable, EveryRouteMethodCredentialAndListener) {
  std::set<std::string_view> patterns;
  for (const Route& route : Routes()) {
    patterns.insert(route.pattern);
  }
  int asked = 0;
  for (const Given& given : kGiven) {
    const auto service = MakeService(given);
    for (const std::string_view pattern : patterns) {
      for (const std::string method : kMethods) {
        const Route* const route = RouteOf(pattern, method);
        for (const Listener listener : kListeners) {
          for (const Credential credential : kCredentials) {
            const std::string path = PathOf(Route{"", pattern, {}, "", "", nullptr});
            const Reply reply = Dispatch(*service, MakeRequest(method, path, listener, credential));
            const int refusal =
                route == nullptr ? 405 : Refusal(given, route->access, listener, credential);
            const bool refused = reply.status == 401 || reply.status == 403 ||
                                 reply.status == 405 || reply.status == 429;
            EXPECT_EQ(refused ? reply.status : 0, refusal)
                << method << " " << path << " listener " << static_cast<int>(listener)
                << " credential " << static_cast<int>(credential) << " users " << given.users
                << " tokens " << given.tokens << " plaintext " << given.allow_plaintext << ": "
                << reply.body;
            EXPECT_EQ(reply.body.find("\"not_found\""), std::string::npos) << path;
            ++asked;
          }
        }
      }
    }
    service->stream->Stop();
  }
  EXPECT_GT(asked, 20'000);
}

// The table above takes the class of a route from the table of routes. That one is pinned here.
TEST_F(AccessTable, WhatIsOpenAndWhatIsForOperators) {
  std::set<std::string_view> open;
  std::set<std::string_view> operator_reads;
  for (const Route& route : Routes()) {
    if (route.method != "GET") {
      EXPECT_EQ(route.access, Access::kOperator) << route.pattern;
    } else if (route.access == Access::kOpen) {
      open.insert(route.pattern);
    } else if (route.access == Access::kOperator) {
      operator_reads.insert(route.pattern);
    }
  }
  EXPECT_EQ(open, (std::set<std::string_view>{"/healthz", "/readyz"}));
  EXPECT_EQ(operator_reads, (std::set<std::string_view>{"/api/v1/audit"}));
}

TEST_F(AccessTable, ABrowserIsAskedForAPassword) {
  const auto service = MakeService({true, true, false});
  const auto header = [&](const std::string& method, const std::string& path) {
    const Reply reply =
        Dispatch(*service, MakeRequest(method, path, Listener::kTls, Credential::kNone));
    EXPECT_EQ(reply.status, 401);
    for (const auto& [name, value] : reply.headers) {
      if (name == "WWW-Authenticate") {
        return value;
      }
    }
    return std::string();
  };
  EXPECT_EQ(header("GET", "/"), "Basic realm=\"nicmon\"");
  EXPECT_EQ(header("POST", "/api/v1/release"), "Bearer realm=\"nicmon\"");
}

TEST_F(AccessTable, OperatorsAreLimitedByIdentity) {
  options_.token_rate = {0.1, 3};
  options_.socket_rate = {0.1, 5};
  const auto service = MakeService({false, true, false});
  service->tokens = std::make_unique<TokenFile>(WriteFile("tokens", "ops:s3cret\nother:another\n"),
                                                Clock::Real());
  const auto resume = [&](Listener listener, const std::string& token, uid_t uid = 1000) {
    Request request =
        MakeRequest("POST", "/api/v1/ports/mlx5_0/1/resume", listener, Credential::kNone);
    request.headers.emplace_back("authorization", "Bearer " + token);
    if (request.peer.admin_socket) {
      request.peer.uid = uid;
    }
    return Dispatch(*service, request);
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(resume(Listener::kLoopback, "s3cret").status, 200);
  }
  const Reply limited = resume(Listener::kLoopback, "s3cret");
  EXPECT_EQ(limited.status, 429);
  const Headers& headers = limited.headers;
  const auto retry = std::find_if(headers.begin(), headers.end(),
                                  [](const auto& one) { return one.first == "Retry-After"; });
  ASSERT_NE(retry, headers.end());
  EXPECT_NEAR(std::stoi(retry->second), 10, 1);
  EXPECT_EQ(resume(Listener::kTls, "s3cret").status, 429) << "another way in";
  EXPECT_EQ(resume(Listener::kLoopback, "another").status, 200);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(resume(Listener::kSocket, "").status, 200);
  }
  EXPECT_EQ(resume(Listener::kSocket, "").status, 429);
  EXPECT_EQ(resume(Listener::kSocket, "", 0).status, 200) << "another user";
  EXPECT_EQ(stats_->Read().rejected.at("rate_limit"), 3U);
  EXPECT_EQ(stats_->Read().admin_actions.at({"resume", "denied"}), 3U);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Dispatch(*service, MakeRequest("POST", "/api/v1/simulator", Listener::kSocket,
                                             Credential::kNone))
                  .status,
              400)
        << "the simulator is a test's, as fast as it likes";
    EXPECT_EQ(Dispatch(*service,
                       MakeRequest("GET", "/api/v1/ports", Listener::kSocket, Credential::kNone))
                  .status,
              200);
  }
}

TEST_F(AccessTable, WrongCredentialsAreLimitedByAddressAndRightOnesGoOn) {
  options_.refused_rate = {0.1, 4};
  const auto service = MakeService({true, true, false});
  const auto ask = [&](Credential credential, const std::string& address = "192.0.2.7") {
    Request request = MakeRequest("GET", "/api/v1/ports", Listener::kTls, credential);
    request.peer.address = address;
    return Dispatch(*service, request).status;
  };
  EXPECT_EQ(ask(Credential::kPassword), 200);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ask(i % 2 == 0 ? Credential::kWrongPassword : Credential::kWrongToken), 401);
  }
  EXPECT_EQ(ask(Credential::kWrongToken), 429);
  EXPECT_EQ(ask(Credential::kWrongPassword), 429);
  Request late = MakeRequest("GET", "/api/v1/ports", Listener::kTls, Credential::kNone);
  late.headers.emplace_back("authorization", "Basic bGF0ZTpyaWdodA==");  // late:right
  EXPECT_EQ(Dispatch(*service, late).status, 429) << "not even looked at";
  EXPECT_EQ(ask(Credential::kNone), 401) << "is no guess";
  EXPECT_EQ(ask(Credential::kPassword), 200) << "known to be right";
  EXPECT_EQ(ask(Credential::kToken), 200);
  EXPECT_EQ(ask(Credential::kWrongToken, "192.0.2.8"), 401);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ask(Credential::kWrongToken, "2001:db8::" + std::to_string(i)), 401);
  }
  EXPECT_EQ(ask(Credential::kWrongToken, "2001:db8::ffff"), 429) << "of the same /64";
  EXPECT_EQ(ask(Credential::kWrongToken, "2001:db8:0:1::1"), 401);
}

TEST_F(AccessTable, TheVerifiedIdentityAndTheClaimedOneAreBothRecorded) {
  const auto service = MakeService({false, true, false});
  Request request =
      MakeRequest("POST", "/api/v1/ports/mlx5_0/1/pause", Listener::kTls, Credential::kToken);
  request.peer.certificate = "jump.example";
  request.query = "reason=x&by=ann";
  ASSERT_EQ(Dispatch(*service, request).status, 200);
  const auto audit =
      std::find_if(node_.recorded.begin(), node_.recorded.end(),
                   [](const Transition& event) { return event.type == TransitionType::kAudit; });
  ASSERT_NE(audit, node_.recorded.end());
  EXPECT_EQ(audit->who, "token=ops cert=jump.example");
  EXPECT_EQ(audit->by, "ann");
}

TEST(Allowance, FillsUpAgainAndForgetsWhoUsedLeast) {
  Allowance allowance(2, 3);
  SteadyTime now{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(allowance.Take("a", now));
  }
  const auto wait = allowance.Take("a", now);
  ASSERT_TRUE(wait);
  EXPECT_EQ(*wait, std::chrono::milliseconds(500));
  EXPECT_TRUE(allowance.Wait("a", now));
  now += *wait;
  EXPECT_FALSE(allowance.Wait("a", now));
  EXPECT_FALSE(allowance.Take("a", now));
  EXPECT_TRUE(allowance.Take("a", now));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_FALSE(allowance.Take("other" + std::to_string(i), now));
  }
  EXPECT_TRUE(allowance.Take("a", now)) << "thousands of others do not make it forgotten";
}

}  // namespace
}  // namespace nicmon::http
