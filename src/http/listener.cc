#include "http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "http/listening_socket.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

constexpr int kPauseWithoutFdsMs = 50;

Peer UnixPeer(int fd) {
  Peer peer;
  peer.admin_socket = true;
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
    peer.uid = credentials.uid;
  }
  return peer;
}

Peer TcpPeer(const sockaddr_storage& address) {
  Peer peer;
  peer.loopback = IsLoopback(address);
  std::array<char, INET6_ADDRSTRLEN> text{};
  in_addr v4{};
  if (address.ss_family == AF_INET) {
    v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
      peer.address = text.data();
      return peer;
    }
    std::copy(v6.s6_addr + 12, v6.s6_addr + 16, reinterpret_cast<uint8_t*>(&v4.s_addr));
  }
  ::inet_ntop(AF_INET, &v4, text.data(), text.size());
  peer.address = text.data();
  return peer;
}

Reply Busy() {
  Reply reply = ErrorReply(503, "too_many_connections", "all connections are in use",
                           "try again in a second");
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

}  // namespace

Listener::Listener(int fd, bool admin_socket, size_t max_connections, ConnectionLimits limits,
                   ConnectionShared::Handler handler, ConnectionShared::Tls tls,
                   std::shared_ptr<HttpStats> stats)
    : fd_(fd), admin_socket_(admin_socket), shared_{Clock::Real(),
                                                    {max_connections, shared_.clock},
                                                    limits,
                                                    std::move(handler),
                                                    std::move(tls),
                                                    std::move(stats)} {}

Listener::~Listener() {
  Stop();
}

void Listener::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Listener::Stop() {
  stop_.Wake();
  if (thread_.joinable()) {
    thread_.join();
  }
  shared_.table.Stop();
}

bool Listener::WaitEmpty(Duration timeout) {
  if (threads_.WaitForAll(timeout)) {
    return true;
  }
  shared_.table.ShutAll();
  return false;
}

void Listener::Run() {
  std::array<pollfd, 2> entries = {pollfd{fd_, POLLIN, 0}, pollfd{stop_.fd(), POLLIN, 0}};
  while (::poll(entries.data(), entries.size(), -1) >= 0 || errno == EINTR) {
    if (entries[1].revents != 0) {
      return;
    }
    if (entries[0].revents != 0) {
      Accept();
    }
  }
}

void Listener::Accept() {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  UniqueFd fd(
      ::accept4(fd_, reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    // Anything else (a client that went away, a signal) concerns one connection at most.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      shared_.stats->Rejected("connection_limit");
      shared_.table.EvictOne();
      pollfd stop{stop_.fd(), POLLIN, 0};
      ::poll(&stop, 1, kPauseWithoutFdsMs);
    }
    return;
  }
  if (!admin_socket_) {
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  bool evicted = false;
  const std::optional<uint64_t> id = shared_.table.Admit(fd.get(), &evicted);
  if (evicted || !id) {
    shared_.stats->Rejected("connection_limit");
  }
  if (!id) {
    AnswerAndClose(std::move(fd), Busy());
    return;
  }
  const Peer peer = admin_socket_ ? UnixPeer(fd.get()) : TcpPeer(address);
  Serve(std::move(fd), peer, *id);
}

void Listener::Serve(UniqueFd fd, const Peer& peer, uint64_t id) {
  // Made before the thread, so that whatever fails takes the entry out of the table.
  auto connection = std::make_shared<Connection>(std::move(fd), peer, id, shared_);
  try {
    threads_.Start([self = shared_from_this(), connection]() mutable {
      connection->Serve();
      connection.reset();  // before `self`, which owns what it refers to
    });
  } catch (const std::system_error& error) {
    shared_.stats->Rejected("connection_limit");
    log::Warning("no thread for a connection", {{"error", error.what()}});
  }
}

}  // namespace nicmon::http
