#include "http/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "http/exchange.h"

namespace nicmon::http {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr int kMaxRequests = 1000;              // then the connection is closed, politely
constexpr size_t kMaxDrainBytes = 1024 * 1024;  // of a refused request
constexpr Duration kWriteWhileStopping = milliseconds(200);
constexpr int kStreamBuffer = 256 * 1024;   // of the kernel, for one client
constexpr size_t kStreamPiece = 64 * 1024;  // has to be taken within the write timeout
constexpr unsigned kDeadPeerMs = 30'000;    // without an acknowledgement of what was sent
constexpr auto kMaxDrainTime = std::chrono::seconds(1);

/// Whether `buffer` has a line feed without its carriage return before `end`.
bool HasBareLineFeed(const std::string& buffer, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (buffer[i] == '\n' && (i == 0 || buffer[i - 1] != '\r')) {
      return true;
    }
  }
  return false;
}

Rejection NotHttp() {
  return {"malformed", ErrorReply(400, "malformed_request", "this is not an HTTP/1.1 request",
                                  "plain HTTP is spoken here, lines end in CR LF")};
}

Rejection HeadTooLarge() {
  return {"too_large", ErrorReply(400, "headers_too_large", "the headers are too large",
                                  "at most 16 KiB in all")};
}

}  // namespace

Connection::Connection(UniqueFd fd, Peer peer, uint64_t id, ConnectionTable& table,
                       const Handler& handler, HttpStats& stats, const Clock& clock,
                       const ConnectionLimits& limits)
    : fd_(std::move(fd)),
      peer_(std::move(peer)),
      id_(id),
      table_(table),
      handler_(handler),
      stats_(stats),
      clock_(clock),
      limits_(limits) {
  stats_.ConnectionOpened();
}

Connection::~Connection() {
  stats_.ConnectionClosed();
  // Whoever looks into the table must find no fd number that may belong to somebody else.
  const UniqueFd closing = std::move(fd_);
  table_.Remove(id_);
}

void Connection::Serve() {
  for (int served = 0; served < kMaxRequests; ++served) {
    if (!ServeOne(served == 0, served + 1 == kMaxRequests)) {
      return;
    }
  }
}

bool Connection::ServeOne(bool first, bool last) {
  if (!table_.SetState(id_, ConnectionTable::State::kWaiting) || table_.stopping()) {
    return false;
  }
  if (!first && buffer_.empty() && !WaitFor(POLLIN, clock_.steady() + limits_.idle_timeout)) {
    return false;
  }
  const SteadyTime deadline = clock_.steady() + limits_.request_timeout;
  size_t head_size = 0;
  bool not_http = false;
  Head head;
  Rejection rejection{};
  Read read = ReadHead(deadline, &head_size, &not_http);
  if (not_http || (read == Read::kOk && head_size == 0)) {
    Reject("GET", not_http ? NotHttp() : HeadTooLarge());
    return false;
  }
  if (read == Read::kOk) {
    if (!ParseHead(std::string_view(buffer_).substr(0, head_size), &head, &rejection)) {
      Reject(head.request.method == "HEAD" ? "HEAD" : "GET", rejection);
      return false;
    }
    if (head.expect_continue && head.content_length > 0 &&
        !Write("HTTP/1.1 100 Continue\r\n\r\n", deadline)) {
      return false;
    }
    read = ReadBody(deadline, head_size + head.content_length);
  }
  if (read != Read::kOk) {
    if (read == Read::kTimeout) {
      stats_.Rejected("timeout");
    }
    return false;
  }
  Request& request = head.request;
  request.body = buffer_.substr(head_size, head.content_length);
  buffer_.erase(0, head_size + head.content_length);
  request.peer = peer_;

  const SteadyTime started = clock_.steady();
  if (!table_.SetState(id_, ConnectionTable::State::kHandling)) {
    return false;
  }
  Reply reply = handler_(request);
  if (reply.stream != nullptr) {
    Stream(reply, started);
    return false;
  }
  const bool close = head.close || last;
  return Answer(request.method, std::move(reply), close, started) && !close;
}

Connection::Read Connection::ReadHead(SteadyTime deadline, size_t* size, bool* malformed) {
  size_t scanned = 0;
  for (;;) {
    // Empty lines before a request are let pass (RFC 9112 §2.2).
    while (buffer_.compare(0, 2, "\r\n") == 0) {
      buffer_.erase(0, 2);
      scanned = 0;
    }
    const size_t blank = buffer_.find("\r\n\r\n", scanned < 3 ? 0 : scanned - 3);
    const size_t end = blank == std::string::npos ? buffer_.size() : blank + 4;
    const bool letter = buffer_.empty() || buffer_[0] == '\r' ||
                        (buffer_[0] >= 'A' && buffer_[0] <= 'Z') ||
                        (buffer_[0] >= 'a' && buffer_[0] <= 'z');
    if (!letter || HasBareLineFeed(buffer_, scanned, std::min(end, kMaxHeadBytes))) {
      *malformed = true;
      return Read::kOk;
    }
    if (end > kMaxHeadBytes) {
      *size = 0;  // too large
      return Read::kOk;
    }
    if (blank != std::string::npos) {
      *size = end;
      return Read::kOk;
    }
    scanned = buffer_.size();
    if (const Read read = ReadSome(deadline); read != Read::kOk) {
      return read;
    }
  }
}

Connection::Read Connection::ReadBody(SteadyTime deadline, size_t end) {
  while (buffer_.size() < end) {
    if (const Read read = ReadSome(deadline); read != Read::kOk) {
      return read;
    }
  }
  return Read::kOk;
}

Connection::Read Connection::ReadSome(SteadyTime deadline) {
  std::array<char, 16 * 1024> chunk;
  for (;;) {
    const ssize_t n = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
    if (n > 0) {
      buffer_.append(chunk.data(), static_cast<size_t>(n));
      return Read::kOk;
    }
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      return Read::kClosed;
    }
    if (errno != EINTR && !WaitFor(POLLIN, deadline)) {
      return Read::kTimeout;
    }
  }
}

bool Connection::WaitFor(short events, SteadyTime deadline) {
  for (;;) {
    const Duration left = deadline - clock_.steady();
    if (left <= Duration(0)) {
      return false;
    }
    pollfd entry{fd_.get(), events, 0};
    // Rounded up, so that the last millisecond is slept and not spun through.
    const auto wait = duration_cast<milliseconds>(left) + milliseconds(1);
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(wait.count(), 60'000)));
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return false;
    }
  }
}

bool Connection::Write(const std::string& bytes, SteadyTime deadline) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n =
        ::send(fd_.get(), bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (n >= 0) {
      written += static_cast<size_t>(n);
      continue;
    }
    if (errno == EINTR) {
      continue;
    }
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !WaitFor(POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

bool Connection::Answer(const std::string& method, Reply reply, bool close, SteadyTime started) {
  const int status = reply.status;
  const auto keep_alive = std::chrono::duration_cast<std::chrono::seconds>(limits_.idle_timeout);
  const std::string bytes = Encode(method, std::move(reply), close || table_.stopping(),
                                   static_cast<int>(keep_alive.count()));
  // Asked after the change of state: a Stop() from here on shuts the socket itself.
  const bool open = table_.SetState(id_, ConnectionTable::State::kWriting);
  const Duration timeout = table_.stopping() ? kWriteWhileStopping : limits_.write_timeout;
  const bool ok = open && Write(bytes, clock_.steady() + timeout);
  stats_.Request(status, std::chrono::duration<double>(clock_.steady() - started).count());
  return ok;
}

void Connection::Stream(const Reply& reply, SteadyTime started) {
  const bool open = table_.SetState(id_, ConnectionTable::State::kStreaming);
  stats_.Request(reply.status, std::chrono::duration<double>(clock_.steady() - started).count());
  // What the kernel holds for a client that does not read is bounded, and a dead one found out.
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDBUF, &kStreamBuffer, sizeof(kStreamBuffer));
  ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kDeadPeerMs, sizeof(kDeadPeerMs));
  if (!open || table_.stopping() ||
      !Write(EncodeStreamHead(reply), clock_.steady() + limits_.write_timeout)) {
    return;
  }
  while (const auto piece = reply.stream->Take(kStreamPiece)) {
    const SteadyTime deadline = clock_.steady() + limits_.write_timeout;
    if (piece->empty() ? WaitForStream(*reply.stream) : Write(*piece, deadline)) {
      continue;
    }
    if (!piece->empty() && clock_.steady() >= deadline && reply.stream->Take(0)) {
      stats_.Rejected("timeout");  // the stream counts those that it has ended itself
    }
    return;
  }
}

/// Until there may be more to send; false when the client is gone. What it sends is ignored.
bool Connection::WaitForStream(const ReplyStream& stream) {
  std::array<pollfd, 2> entries = {pollfd{fd_.get(), POLLIN, 0},
                                   pollfd{stream.wake_fd(), POLLIN, 0}};
  if (::poll(entries.data(), entries.size(), -1) < 0) {
    return errno == EINTR;
  }
  if (entries[0].revents == 0) {
    return true;
  }
  const Read read = ReadSome(clock_.steady());
  buffer_.clear();
  return read != Read::kClosed;
}

void Connection::Reject(const std::string& method, const Rejection& rejection) {
  stats_.Rejected(rejection.reason);
  if (Answer(method, rejection.reply, true, clock_.steady())) {
    Drain();
  }
}

/// Closing with unread input makes the kernel send a reset, which can take the reply away from the
/// client before it has read it. So the rest is read and thrown away, for a bounded while.
void Connection::Drain() {
  ::shutdown(fd_.get(), SHUT_WR);
  const SteadyTime deadline = clock_.steady() + kMaxDrainTime;
  size_t drained = 0;
  buffer_.clear();
  while (drained < kMaxDrainBytes && ReadSome(deadline) == Read::kOk) {
    drained += buffer_.size();
    buffer_.clear();
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
