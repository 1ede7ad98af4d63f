#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

#include "http/tls_context.h"
#include "http/transport.h"

namespace nicmon::http {

/// The server's side of one TLS connection over a non-blocking socket, which is not owned.
class TlsTransport : public Transport {
 public:
  TlsTransport(std::shared_ptr<const TlsContext> context, int fd);
  ~TlsTransport() override;

  /// Has to be kDone before anything is read or written. kClosed: `error` says why.
  Result Handshake(std::string* error);
  Result Read(char* data, size_t size) override;
  Result Write(std::string_view bytes) override;
  void EndWriting() override;

  /// As TlsContext::ClientName() of the client's certificate; empty without a verified one.
  std::string ClientName() const;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  Result Outcome(int returned);

  const std::shared_ptr<const TlsContext> context_;  // before ssl_, which refers to it
  const int fd_;
  const std::unique_ptr<ssl_st, Free> ssl_;
  bool broken_ = false;  // after a fatal error nothing may be said any more
};

}  // namespace nicmon::http
