#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "http/http_test.h"
#include "http/listening_socket.h"

namespace nicmon::http {
namespace {

class Listening : public HttpTest {
 protected:
  std::unique_ptr<HttpServer> MakeServer(const HttpOptions& options) {
    return std::make_unique<HttpServer>(options, node_.MakeBackend(), stats_);
  }
  std::string WhyNot(const HttpOptions& options) {
    try {
      MakeServer(options);
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    ADD_FAILURE() << "started";
    return "";
  }
  static mode_t Mode(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  /// A socket file whose process is gone.
  void MakeStale(const std::string& path) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
};

TEST_F(Listening, ASecondStartOnTheSamePortSaysWhatToDo) {
  Start();
  HttpOptions second = options_;
  second.admin_socket.clear();
  second.listen_port = static_cast<uint16_t>(std::stoi(tcp().substr(tcp().rfind(':') + 1)));
  const std::string why = WhyNot(second);
  EXPECT_NE(why.find(tcp()), std::string::npos) << why;
  EXPECT_NE(why.find("EADDRINUSE"), std::string::npos) << why;
  EXPECT_NE(why.find("--listen"), std::string::npos) << why;
  // Also before the first one is started, and on the wildcard address.
  second.listen_port = 0;
  const auto waiting = MakeServer(second);
  second.listen_port = static_cast<uint16_t>(std::stoi(waiting->tcp_address().substr(10)));
  second.listen_host = "::";
  EXPECT_NE(WhyNot(second).find("EADDRINUSE"), std::string::npos);
}

TEST_F(Listening, ThePortIsFreeAgainAtOnce) {
  Start();
  RawClient client(tcp());  // its side of the connection stays behind
  client.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(client.Receive());
  HttpOptions again = options_;
  again.listen_port = static_cast<uint16_t>(std::stoi(tcp().substr(10)));
  ASSERT_TRUE(server_->Stop(std::chrono::seconds(10)));
  const auto next = MakeServer(again);
  EXPECT_EQ(next->tcp_address(), tcp());
}

TEST_F(Listening, BothFamiliesOnOneSocket) {
  options_.listen_host = "::";
  Start();
  EXPECT_EQ(tcp().rfind("[::]:", 0), 0U) << tcp();
  const std::string port = tcp().substr(tcp().rfind(':'));
  EXPECT_EQ(Send("127.0.0.1" + port, "GET /healthz").status, 200);
  EXPECT_EQ(Send("[::1]" + port, "GET /healthz").status, 200);
}

/// From here on this process has no IPv6.
void TakeIpv6Away() {
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{filter.size(), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("seccomp");
    ::_exit(3);
  }
}

TEST_F(Listening, WithoutIpv6TheWildcardMeansIpv4) {
  EXPECT_EXIT(
      {
        TakeIpv6Away();
        const TcpSocket socket = ListenTcp("::", 0, true);
        ::_exit(socket.address.rfind("0.0.0.0:", 0) == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        TakeIpv6Away();
        try {
          ListenTcp("::", 9, false);
        } catch (const std::runtime_error& error) {
          std::fprintf(stderr, "%s\n", error.what());
          ::_exit(0);
        }
        ::_exit(1);
      },
      ::testing::ExitedWithCode(0), "this host has no IPv6: use --listen 0.0.0.0:9");
}

TEST_F(Listening, AnAddressThatIsNotOurs) {
  options_.listen_host = "192.0.2.1";
  EXPECT_NE(WhyNot(options_).find("192.0.2.1:0"), std::string::npos);
  options_.listen_host = "example.org";
  EXPECT_NE(WhyNot(options_).find("not a numeric address"), std::string::npos);
}

TEST_F(Listening, TheSocketHasItsModeAndItsDirectory) {
  directory_.Directory("run");
  options_.admin_socket = directory_.Path("run/nicmon/admin.sock").string();
  const mode_t old = ::umask(0077);
  Start();
  ::umask(old);
  EXPECT_EQ(Mode(admin()), 0660U);
  EXPECT_EQ(Mode(directory_.Path("run/nicmon").string()), 0755U);
  EXPECT_EQ(Send(admin(), "GET /healthz").status, 200);
  ASSERT_TRUE(server_->Stop(std::chrono::seconds(10)));
  EXPECT_FALSE(std::filesystem::exists(options_.admin_socket));
}

TEST_F(Listening, OnlyTheLastDirectoryIsMade) {
  options_.admin_socket = directory_.Path("no/such/admin.sock").string();
  const std::string why = WhyNot(options_);
  EXPECT_NE(why.find("its directory " + directory_.Path("no/such").string() + " cannot be used"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("mkdir -p "), std::string::npos) << why;
  EXPECT_FALSE(std::filesystem::exists(directory_.Path("no")));

  options_.admin_socket = "/nicmon-test-no-such/admin.sock";
  EXPECT_NE(WhyNot(options_).find("its directory /nicmon-test-no-such"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists("/nicmon-test-no-such"));
}

TEST_F(Listening, TheSocketHasItsGroup) {
  const group* own = ::getgrgid(::getegid());
  ASSERT_NE(own, nullptr);
  options_.admin_socket_group = own->gr_name;
  Start();
  struct stat status {};
  ASSERT_EQ(::stat(admin().c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, ::getegid());
  HttpOptions other = options_;
  other.admin_socket = directory_.Path("other.sock").string();
  other.admin_socket_group = std::to_string(::getegid());
  EXPECT_EQ(MakeServer(other)->admin_socket(), other.admin_socket);
  other.admin_socket_group = "no-such-group";
  other.admin_socket_required = false;
  EXPECT_NE(WhyNot(other).find("no-such-group"), std::string::npos);
}

TEST_F(Listening, ALiveSocketIsNeverStolen) {
  Start();
  for (const bool required : {true, false}) {
    HttpOptions second = options_;
    second.admin_socket_required = required;
    EXPECT_NE(WhyNot(second).find(admin()), std::string::npos);
  }
  EXPECT_EQ(Send(admin(), "GET /healthz").status, 200);
}

TEST_F(Listening, AStaleSocketIsReplaced) {
  MakeStale(options_.admin_socket);
  Start();
  EXPECT_EQ(Send(admin(), "GET /healthz").status, 200);
}

TEST_F(Listening, WhatIsNotASocketStays) {
  const std::string path = WriteFile("admin.sock", "precious");
  EXPECT_NE(WhyNot(options_).find("not a socket"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(Listening, StopLeavesASocketThatIsNotOursAnyMore) {
  Start();
  std::filesystem::rename(admin(), directory_.Path("moved.sock"));
  MakeStale(options_.admin_socket);
  ASSERT_TRUE(server_->Stop(std::chrono::seconds(10)));
  EXPECT_TRUE(std::filesystem::exists(options_.admin_socket));
}

TEST_F(Listening, AnUnusableDefaultPathIsReplaced) {
  WriteFile("file", "");
  options_.admin_socket = directory_.Path("file/nicmon/admin.sock").string();
  EXPECT_NE(WhyNot(options_).find(options_.admin_socket), std::string::npos);
  options_.admin_socket_required = false;
  ::setenv("XDG_RUNTIME_DIR", directory_.root().c_str(), 1);
  EXPECT_EQ(MakeServer(options_)->admin_socket(), directory_.Path("nicmon/admin.sock").string());
  ::setenv("XDG_RUNTIME_DIR", directory_.Path("file").c_str(), 1);
  EXPECT_EQ(MakeServer(options_)->admin_socket(), "");
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(MakeServer(options_)->admin_socket(), "");
  options_.admin_socket = "/" + std::string(200, 'x');
  EXPECT_EQ(MakeServer(options_)->admin_socket(), "");
}

TEST_F(Listening, WithoutAnAdminSocket) {
  options_.admin_socket.clear();
  Start();
  EXPECT_EQ(admin(), "");
  EXPECT_EQ(Get("/healthz").status, 200);
}

}  // namespace
}  // namespace nicmon::http
