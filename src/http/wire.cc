#include "http/wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace nicmon::http {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr size_t kMaxDrainBytes = 1024 * 1024;
constexpr auto kMaxDrainTime = std::chrono::seconds(1);
constexpr char kTlsHandshakeRecord = 0x16;

}  // namespace

Wire::Wire(UniqueFd fd, const Clock& clock)
    : fd_(std::move(fd)), clock_(clock), transport_(std::make_unique<PlainTransport>(fd_.get())) {}

Wire::Io Wire::LooksLikeTls(SteadyTime deadline, bool* tls) {
  for (;;) {
    char first = 0;
    const ssize_t n = ::recv(fd_.get(), &first, 1, MSG_PEEK);
    if (n == 1) {
      *tls = first == kTlsHandshakeRecord;
      return Io::kOk;
    }
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      return Io::kClosed;
    }
    if (!WaitFor(POLLIN, deadline)) {
      return Io::kTimeout;
    }
  }
}

Wire::Io Wire::StartTls(const std::shared_ptr<const TlsContext>& context, SteadyTime deadline,
                        std::string* error) {
  auto transport = std::make_unique<TlsTransport>(context, fd_.get());
  tls_ = transport.get();
  transport_ = std::move(transport);
  for (;;) {
    const Transport::Result result = tls_->Handshake(error);
    if (result.status == Transport::Status::kDone) {
      return Io::kOk;
    }
    if (result.status == Transport::Status::kClosed) {
      return Io::kClosed;
    }
    if (!WaitFor(result.wait_for, deadline)) {
      return Io::kTimeout;
    }
  }
}

Wire::Io Wire::Read(std::string* buffer, SteadyTime deadline) {
  std::array<char, 16 * 1024> chunk;
  for (;;) {
    const Transport::Result result = transport_->Read(chunk.data(), chunk.size());
    if (result.status == Transport::Status::kDone) {
      buffer->append(chunk.data(), result.size);
      return Io::kOk;
    }
    if (result.status == Transport::Status::kClosed) {
      return Io::kClosed;
    }
    if (!WaitFor(result.wait_for, deadline)) {
      return Io::kTimeout;
    }
  }
}

Wire::Io Wire::Write(std::string_view bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    const Transport::Result result = transport_->Write(bytes);
    bytes.remove_prefix(result.size);
    if (result.status == Transport::Status::kClosed) {
      return Io::kClosed;
    }
    if (result.status == Transport::Status::kAgain && !WaitFor(result.wait_for, deadline)) {
      return Io::kTimeout;
    }
  }
  return Io::kOk;
}

void Wire::Drain() {
  EndWriting();
  const SteadyTime deadline = clock_.steady() + kMaxDrainTime;
  std::string dropped;
  size_t drained = 0;
  while (drained < kMaxDrainBytes && Read(&dropped, deadline) == Io::kOk) {
    drained += dropped.size();
    dropped.clear();
  }
}

bool Wire::WaitFor(short events, SteadyTime deadline) {
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

}  // namespace nicmon::http
