#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/tls_transport.h"
#include "http/transport.h"
#include "nicmon/base/clock.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::http {

/// One client's socket, plain or TLS, under absolute deadlines. Everything waits in poll(), so a
/// shutdown of the socket from outside ends it at once.
class Wire {
 public:
  enum class Io { kOk, kClosed, kTimeout };

  /// Plain. `clock` must outlive the object.
  Wire(UniqueFd fd, const Clock& clock);

  /// Whether what comes first is the first byte of TLS; looks without taking it.
  Io LooksLikeTls(SteadyTime deadline, bool* tls);
  /// Speaks TLS from here on; the handshake has to be over by `deadline`. Anything but kOk: the
  /// wire is of no use any more, `error` says why in a few words.
  Io StartTls(const std::shared_ptr<const TlsContext>& context, SteadyTime deadline,
              std::string* error);
  /// Who the client's certificate says it is; empty without TLS or without a verified one.
  std::string ClientName() const { return tls_ == nullptr ? "" : tls_->ClientName(); }

  /// Appends what is there, or comes by `deadline`: one piece of at most 16 KiB.
  Io Read(std::string* buffer, SteadyTime deadline);
  Io Write(std::string_view bytes, SteadyTime deadline);
  void EndWriting() { transport_->EndWriting(); }
  /// EndWriting(), then reads and throws away what the client still sends, for a bounded while:
  /// closing with unread input makes the kernel send a reset, which can take the last reply away
  /// from the client before it has read it.
  void Drain();

  int fd() const { return fd_.get(); }
  UniqueFd TakeFd() { return std::move(fd_); }

 private:
  bool WaitFor(short events, SteadyTime deadline);

  UniqueFd fd_;
  const Clock& clock_;
  std::unique_ptr<Transport> transport_;
  TlsTransport* tls_ = nullptr;  // transport_, when it is one
};

}  // namespace nicmon::http
