#include "http/tls_transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <semaphore>

#include "http/openssl_error.h"

namespace nicmon::http {
namespace {

/// A handshake costs a signature. So many at once may compute, whoever asks for how many: nobody
/// takes more of the node's cores than that by opening connections.
constexpr int kHandshakesAtOnce = 2;
std::counting_semaphore<kHandshakesAtOnce> g_handshakes{kHandshakesAtOnce};

}  // namespace

void TlsTransport::Free::operator()(ssl_st* ssl) const {
  ::SSL_free(ssl);
}

TlsTransport::TlsTransport(std::shared_ptr<const TlsContext> context, int fd)
    : context_(std::move(context)), fd_(fd), ssl_(::SSL_new(context_->get())) {
  if (ssl_ != nullptr) {
    ::SSL_set_fd(ssl_.get(), fd);
    ::SSL_set_accept_state(ssl_.get());
  }
}

TlsTransport::~TlsTransport() = default;

Transport::Result TlsTransport::Outcome(int returned) {
  if (returned > 0) {
    return {Status::kDone, static_cast<size_t>(returned)};
  }
  switch (::SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {Status::kAgain, 0, POLLIN};
    case SSL_ERROR_WANT_WRITE:
      return {Status::kAgain, 0, POLLOUT};
    case SSL_ERROR_ZERO_RETURN:
      return {Status::kClosed};
    default:
      broken_ = true;
      return {Status::kClosed};
  }
}

Transport::Result TlsTransport::Handshake(std::string* error) {
  if (ssl_ == nullptr) {
    broken_ = true;
    *error = "out of memory";
    return {Status::kClosed};
  }
  ::ERR_clear_error();
  g_handshakes.acquire();
  const int returned = ::SSL_do_handshake(ssl_.get());
  g_handshakes.release();
  const Result result = Outcome(returned);
  if (result.status == Status::kClosed) {
    const long verified = ::SSL_get_verify_result(ssl_.get());
    *error = verified != X509_V_OK ? "client certificate: " + context_->VerifyText(verified)
                                   : OpensslError("the client went away");
  }
  return result;
}

Transport::Result TlsTransport::Read(char* data, size_t size) {
  ::ERR_clear_error();
  return Outcome(::SSL_read(ssl_.get(), data, static_cast<int>(size)));
}

Transport::Result TlsTransport::Write(std::string_view bytes) {
  ::ERR_clear_error();
  return Outcome(::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())));
}

void TlsTransport::EndWriting() {
  if (!broken_ && ::SSL_is_init_finished(ssl_.get()) == 1) {
    ::ERR_clear_error();
    (void)::SSL_shutdown(ssl_.get());  // else a reply that ends with the connection looks cut off
  }
  ::shutdown(fd_, SHUT_WR);
}

std::string TlsTransport::ClientName() const {
  return context_->ClientName(ssl_.get());
}

}  // namespace nicmon::http
