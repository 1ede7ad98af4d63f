// Who is asked, and what is said when nobody can be.
#include "ctl/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "ctl/ctl_run.h"
#include "http/certificates.h"

namespace nicmon {
namespace {

using ctl::ParseUrl;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using testing::Ctl;
using testing::CtlResult;
using testing::Daemon;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TempDir;
using testing::UnixSocket;

TEST(CtlEndpoint, ParsesUrls) {
  EXPECT_EQ(ParseUrl("http://node7:9879")->Name(), "http://node7:9879");
  EXPECT_EQ(ParseUrl("http://node7")->port, 80);
  EXPECT_EQ(ParseUrl("https://node7/")->Name(), "https://node7:443");
  EXPECT_EQ(ParseUrl("http://[fd00::1a]:9879/")->host, "fd00::1a");
  for (const char* wrong :
       {"node7:9879", "ftp://node7", "http://", "http://node7:", "http://a:0", "http://a:70000",
        "http://a:9x", "http://a/metrics", "http://u@a", "http://[::1", "http://[::1]9879"}) {
    EXPECT_FALSE(ParseUrl(wrong)) << wrong;
  }
}

TEST(CtlEndpoint, ReadsTokens) {
  const TempDir dir;
  std::string error;
  EXPECT_EQ(ctl::ReadToken(dir.Write("a", "# mine\n\n s3cret \r\n"), &error), "s3cret");
  EXPECT_EQ(ctl::ReadToken(dir.Write("b", "ops:s3cret\n"), &error), "s3cret");
  EXPECT_FALSE(ctl::ReadToken(dir.Write("c", "ops:sha256:abcd\n"), &error));
  EXPECT_THAT(error, HasSubstr("hash"));
  EXPECT_FALSE(ctl::ReadToken(dir.Write("d", "#\n"), &error));
  EXPECT_FALSE(ctl::ReadToken(dir.path() + "/none", &error));
  EXPECT_THAT(error, HasSubstr("ENOENT"));
}

TEST(CtlEndpoint, SaysWhichSocketWasTriedAndWhatToDo) {
  const TempDir dir;
  const CtlResult absent = Ctl({"ports", "--socket", dir.path() + "/none"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, AllOf(HasSubstr(dir.path() + "/none: it is not there"),
                                HasSubstr("is nicmon running")));
  const std::string stale = dir.path() + "/stale";
  UnixSocket(stale, false);
  EXPECT_THAT(Ctl({"ports"}, {"NICMON_ADMIN_SOCKET=" + stale}).err,
              HasSubstr(stale + ": nobody listens there"));
  EXPECT_THAT(Ctl({"ports"}, {"NICMON_ADMIN_SOCKET=none"}).err, HasSubstr("no admin socket here"));
  const CtlResult check = Ctl({"check", "--socket", stale});
  EXPECT_EQ(check.code, 2);
  EXPECT_THAT(check.out, StartsWith("UNKNOWN: cannot use the admin socket"));
}

TEST(CtlEndpoint, TriesTheDaemonsPlacesInItsOrder) {
  const TempDir dir;
  const std::string variable = "XDG_RUNTIME_DIR=" + dir.path();
  const std::string fallback = dir.path() + "/nicmon/admin.sock";
  const CtlResult none = Ctl({"ports"}, {variable});
  if (none.code == 0) {
    GTEST_SKIP() << "a nicmon of this machine listens on /run/nicmon/admin.sock";
  }
  EXPECT_EQ(none.code, 2);
  // A nicmon that was killed leaves its socket: that place is passed over like one without.
  EXPECT_THAT(none.err, ContainsRegex("/run/nicmon/admin.sock: (it is not|nobody listens) "
                                      "there; .*" +
                                      fallback + ": it is not there"));
  const Daemon daemon;
  std::filesystem::create_directory(dir.path() + "/nicmon");
  std::filesystem::create_symlink(daemon.socket(), fallback);
  EXPECT_EQ(Ctl({"ports"}, {variable}).code, 0);
}

/// Whom the kernel lets in depends on who asks, so as root the question is put by somebody else.
TEST(CtlEndpoint, SaysWhoMayUseASocketThatWeMayNot) {
  const TempDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  const std::string program = dir.path() + "/nicmon";
  std::filesystem::copy_file(NICMON_PROGRAM, program);
  const std::string path = dir.path() + "/admin.sock";
  const UniqueFd socket = UnixSocket(path, true);
  const auto ask = [&](const testing::Strings& arguments) {
    testing::Strings all = {program, "ctl"};
    if (::geteuid() == 0) {
      all.insert(all.begin(),
                 {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"});
    }
    all.insert(all.end(), arguments.begin(), arguments.end());
    return testing::RunProgram(all, {"NICMON_ADMIN_SOCKET=" + path});
  };
  ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
  const CtlResult owner = ask({"ports"});
  EXPECT_EQ(owner.code, 2);
  EXPECT_THAT(owner.err,
              AllOf(HasSubstr(path + ": permission denied, only root may use it"),
                    HasSubstr("--admin-socket-group"), Not(HasSubstr("is nicmon running"))));
  if (::geteuid() != 0) {
    return;  // a group that we are not in cannot be given away
  }
  ASSERT_EQ(::chmod(path.c_str(), 0660), 0);
  EXPECT_THAT(ask({"ports"}).err, HasSubstr("only root may use it"));
  ASSERT_EQ(::chown(path.c_str(), 0, 4), 0);
  EXPECT_THAT(ask({"ports"}).err, HasSubstr("it is for members of group adm: run as root or join"));
}

TEST(CtlEndpoint, OverTcpReadsAreOpenAndOperatorsNeedAToken) {
  const TempDir dir;
  const std::string tokens = dir.Write("tokens", "ops:correct-horse-battery\n");
  Daemon daemon({"--simulate=devices=2", "--admin-token-file=" + tokens});
  const std::string url = "--url=" + daemon.url();
  EXPECT_EQ(Ctl({"check", url}).code, 0);
  const CtlResult refused = Ctl({"pause", "mlx5_0/1", "--reason=x", url});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("needs a bearer token"));
  const CtlResult wrong = Ctl({"pause", "mlx5_0/1", "--reason=x", url,
                               "--token-file=" + dir.Write("wrong", "another-one-entirely\n")});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("not valid"));
  EXPECT_EQ(Ctl({"pause", "mlx5_0/1", "--reason=x", url, "--token-file=" + tokens}).code, 0);
  EXPECT_THAT(daemon.Ctl({"holds", "--json"}).out, HasSubstr(R"("by":"token=ops")"));
  EXPECT_EQ(Ctl({"holds", url, "--token-file=" + dir.path() + "/none"}).code, 2);
}

TEST(CtlEndpoint, OverTlsWithCertificatesAndPasswords) {
  const TempDir dir;
  const http::Authority authority;
  const http::Issued server = authority.Issue("localhost", "IP:127.0.0.1");
  const http::Issued client = authority.Issue("ann", "");
  dir.Write("cert.pem", server.cert);
  dir.Write("key.pem", server.key);
  const std::string ca = dir.Write("ca.pem", authority.pem());
  const std::string config = dir.Write(
      "web.yml",
      "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  client_ca_file: ca.pem\n"
      "  client_auth_type: VerifyClientCertIfGiven\nbasic_auth_users:\n"
      "  user: $2b$04$r23obX5hmfO1v8fGP1vOjOYo6ybUXTejKH4BAPNmAX5a7IOx1/6U.\n");
  const std::string tokens = dir.Write("tokens", "ops:correct-horse-battery\n");
  Daemon daemon(
      {"--simulate=devices=2", "--admin-token-file=" + tokens, "--web-config-file=" + config});
  const std::string url = "--url=https" + daemon.url().substr(4);
  const auto error = [&](const testing::Strings& more) {
    testing::Strings arguments = {"ports", url};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CtlResult result = Ctl(arguments);
    EXPECT_EQ(result.code, result.err.empty() ? 0 : 2);
    return result.err;
  };
  const std::string trust = "--ca-file=" + ca;
  EXPECT_THAT(error({}), HasSubstr("is not trusted: give its authority with --ca-file"));
  EXPECT_THAT(error({trust}), HasSubstr("reads need a password"));
  EXPECT_THAT(error({"--insecure"}), HasSubstr("reads need a password"));
  const std::string right = "--password-file=" + dir.Write("right", "right\n");
  EXPECT_EQ(error({trust, "--user=user", right}), "");
  EXPECT_THAT(error({trust, "--user=user", "--password-file=" + dir.Write("wrong", "wrong\n")}),
              HasSubstr("do not go together"));
  const std::string cert = "--cert=" + dir.Write("own.pem", client.cert);
  const std::string key = "--key=" + dir.Write("own.key", client.key);
  EXPECT_EQ(error({trust, cert, key}), "");
  EXPECT_EQ(error({trust, "--token-file=" + tokens}), "");
  EXPECT_EQ(
      Ctl({"pause", "mlx5_0/1", "--reason=x", url, trust, cert, key, "--token-file=" + tokens})
          .code,
      0);
  EXPECT_THAT(daemon.Ctl({"holds", "--json"}).out, HasSubstr(R"("by":"token=ops cert=ann")"));
  EXPECT_THAT(error({trust, cert}), HasSubstr("--cert and --key go together"));
  EXPECT_THAT(error({"--ca-file=/none"}), HasSubstr("cannot read --ca-file /none: ENOENT"));
  EXPECT_THAT(error({trust, "--user=user"}), HasSubstr("--user and --password-file go together"));
  EXPECT_THAT(error({trust, "--user=user:right", right}), HasSubstr("takes a name alone"));
  EXPECT_THAT(error({trust, "--user=user", right, "--token-file=" + tokens}),
              HasSubstr("give one"));
  const std::string plain = "--url=" + daemon.url();
  EXPECT_THAT(Ctl({"ports", plain}).err, HasSubstr("use https://"));
  EXPECT_THAT(Ctl({"ports", plain, trust}).err, HasSubstr("goes with an https --url"));
  const testing::Strings variables = {"NICMON_CTL_URL=https" + daemon.url().substr(4),
                                      "NICMON_CTL_CA_FILE=" + ca, "NICMON_CTL_USER=user",
                                      "NICMON_CTL_PASSWORD_FILE=" + dir.path() + "/right"};
  EXPECT_EQ(Ctl({"ports"}, variables).code, 0);
  EXPECT_THAT(Ctl({"ports", "--socket=/none"}, variables).err, HasSubstr("/none"));
}

TEST(CtlEndpoint, NobodyAtTheUrl) {
  // Bound and not listening: nobody else can get the port meanwhile.
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const CtlResult result = Ctl({"ports", "--url", url});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("cannot connect to " + url));
  Daemon daemon;
  const std::string tls = "https" + daemon.url().substr(4);
  EXPECT_THAT(Ctl({"ports", "--url", tls}).err, HasSubstr("no TLS with " + tls));
}

}  // namespace
}  // namespace nicmon
