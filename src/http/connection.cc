#include "http/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "http/exchange.h"
#include "http/request_reader.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

using State = ConnectionTable::State;
using Io = Wire::Io;

constexpr int kMaxRequests = 1000;  // then the connection is closed, politely
constexpr Duration kWriteWhileStopping = std::chrono::milliseconds(200);
constexpr int kStreamBuffer = 256 * 1024;   // of the kernel, for one client
constexpr size_t kStreamPiece = 64 * 1024;  // has to be taken within the write timeout
constexpr unsigned kDeadPeerMs = 30'000;    // without an acknowledgement of what was sent

Rejection PlainOnTls() {
  return {"malformed", ErrorReply(400, "tls_required", "plain HTTP was sent to a port with TLS",
                                  "use https:// (curl --cacert FILE, nicmon ctl --ca-file FILE)")};
}

}  // namespace

Connection::Connection(UniqueFd fd, Peer peer, uint64_t id, ConnectionShared& shared)
    : shared_(shared), wire_(std::move(fd), shared.clock), peer_(std::move(peer)), id_(id) {
  shared_.stats->ConnectionOpened();
}

Connection::~Connection() {
  shared_.stats->ConnectionClosed();
  // Whoever looks into the table must find no fd number that may belong to somebody else.
  const UniqueFd closing = wire_.TakeFd();
  shared_.table.Remove(id_);
}

void Connection::Serve() {
  const SteadyTime opened = now();
  if (!Open(opened + shared_.limits.request_timeout)) {
    return;
  }
  SteadyTime deadline = opened + shared_.limits.request_timeout;
  for (int served = 1; ServeOne(deadline, served == kMaxRequests); ++served) {
    // It may have been sent behind the one before; else it has to begin before long.
    if (buffer_.empty() && wire_.Read(&buffer_, now() + shared_.limits.idle_timeout) != Io::kOk) {
      break;
    }
    deadline = now() + shared_.limits.request_timeout;
  }
  wire_.EndWriting();
}

bool Connection::Open(SteadyTime deadline) {
  const auto context = shared_.tls ? shared_.tls(id_) : nullptr;
  if (context == nullptr) {
    return true;
  }
  bool tls = false;
  const Io io = wire_.LooksLikeTls(deadline, &tls);
  if (io == Io::kTimeout) {
    shared_.stats->Rejected("timeout");
  }
  if (io == Io::kOk && !tls) {
    Reject("GET", PlainOnTls());
  }
  return io == Io::kOk && tls && StartTls(context, deadline);
}

bool Connection::StartTls(const std::shared_ptr<const TlsContext>& context, SteadyTime deadline) {
  std::string error;
  const Io io = wire_.StartTls(context, deadline, &error);
  if (io == Io::kOk) {
    peer_.tls = true;
    peer_.certificate = wire_.ClientName();
    return true;
  }
  shared_.stats->Rejected(io == Io::kTimeout ? "timeout" : "tls");
  std::optional<uint64_t> left_out;
  {
    std::lock_guard lock(shared_.refusals_mutex);
    left_out = shared_.refusals.Allow("tls", now());
  }
  if (left_out) {
    log::Warning("no TLS with a client",
                 {{"peer", peer_.address},
                  {"error", io == Io::kTimeout ? "the handshake took too long" : error},
                  {"left_out", std::to_string(*left_out)}});
  }
  if (io == Io::kClosed) {
    wire_.Drain();  // so that the client gets the alert that says why
  }
  return false;
}

bool Connection::ServeOne(SteadyTime deadline, bool last) {
  if (!shared_.table.SetState(id_, State::kWaiting) || shared_.table.stopping()) {
    return false;
  }
  Incoming in = ReadRequest(wire_, &buffer_, deadline);
  if (in.rejection) {
    Reject(in.head.request.method == "HEAD" ? "HEAD" : "GET", *in.rejection);
    return false;
  }
  if (in.io != Io::kOk) {
    if (in.io == Io::kTimeout) {
      shared_.stats->Rejected("timeout");
    }
    return false;
  }
  Request& request = in.head.request;
  request.peer = peer_;
  const SteadyTime started = now();
  if (!shared_.table.SetState(id_, State::kHandling)) {
    return false;
  }
  Reply reply = shared_.handler(request);
  if (reply.stream != nullptr) {
    Stream(reply, started);
    return false;
  }
  const bool close = in.head.close || last || shared_.table.ending(id_);
  return Answer(request.method, std::move(reply), close, started) && !close &&
         shared_.table.SetState(id_, State::kWaiting);
}

bool Connection::Answer(const std::string& method, Reply reply, bool close, SteadyTime started) {
  const int status = reply.status;
  const auto keep_alive =
      std::chrono::duration_cast<std::chrono::seconds>(shared_.limits.idle_timeout);
  const std::string bytes = Encode(method, std::move(reply), close || shared_.table.stopping(),
                                   static_cast<int>(keep_alive.count()));
  // Asked after the change of state: a Stop() from here on shuts the socket itself.
  const bool open = shared_.table.SetState(id_, State::kWriting);
  const Duration timeout =
      shared_.table.stopping() ? kWriteWhileStopping : shared_.limits.write_timeout;
  const bool ok = open && wire_.Write(bytes, now() + timeout) == Io::kOk;
  Count(status, started);
  return ok;
}

void Connection::Count(int status, SteadyTime started) {
  shared_.stats->Request(status, std::chrono::duration<double>(now() - started).count());
}

void Connection::Stream(const Reply& reply, SteadyTime started) {
  const bool open = shared_.table.SetState(id_, State::kStreaming);
  Count(reply.status, started);
  // What the kernel holds for a client that does not read is bounded, and a dead one found out.
  ::setsockopt(wire_.fd(), SOL_SOCKET, SO_SNDBUF, &kStreamBuffer, sizeof(kStreamBuffer));
  ::setsockopt(wire_.fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kDeadPeerMs, sizeof(kDeadPeerMs));
  const Duration timeout = shared_.limits.write_timeout;
  if (!open || shared_.table.stopping() ||
      wire_.Write(EncodeStreamHead(reply), now() + timeout) != Io::kOk) {
    return;
  }
  while (const auto piece = reply.stream->Take(kStreamPiece)) {
    const Io io = piece->empty() ? Io::kOk : wire_.Write(*piece, now() + timeout);
    if (io == Io::kOk && (!piece->empty() || WaitForStream(*reply.stream))) {
      continue;
    }
    if (io == Io::kTimeout && reply.stream->Take(0)) {
      shared_.stats->Rejected("timeout");  // the stream counts those that it has ended itself
    }
    return;
  }
}

/// Until there may be more to send; false when the client is gone. What it sends is ignored.
bool Connection::WaitForStream(const ReplyStream& stream) {
  std::array<pollfd, 2> entries = {pollfd{wire_.fd(), POLLIN, 0},
                                   pollfd{stream.wake_fd(), POLLIN, 0}};
  if (::poll(entries.data(), entries.size(), -1) < 0) {
    return errno == EINTR;
  }
  if (entries[0].revents == 0) {
    return true;
  }
  const Io io = wire_.Read(&buffer_, now());
  buffer_.clear();
  return io != Io::kClosed;
}

void Connection::Reject(const std::string& method, const Rejection& rejection) {
  shared_.stats->Rejected(rejection.reason);
  if (Answer(method, rejection.reply, true, now())) {
    wire_.Drain();
  }
}

void AnswerAndClose(UniqueFd fd, const Reply& reply) {
  const std::string bytes = Encode("GET", reply, true, 0);
  (void)::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(fd.get(), SHUT_WR);
  // Unread input would turn the close into a reset.
  std::array<char, kMaxHeadBytes> ignored;
  (void)::recv(fd.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
}

}  // namespace nicmon::http
