#include "http/transport.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace nicmon::http {
namespace {

Transport::Result Moved(ssize_t n, short wait_for) {
  if (n > 0) {
    return {Transport::Status::kDone, static_cast<size_t>(n)};
  }
  const bool again = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {again ? Transport::Status::kAgain : Transport::Status::kClosed, 0, wait_for};
}

}  // namespace

Transport::Result PlainTransport::Read(char* data, size_t size) {
  return Moved(::recv(fd_, data, size, 0), POLLIN);
}

Transport::Result PlainTransport::Write(std::string_view bytes) {
  return Moved(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), POLLOUT);
}

void PlainTransport::EndWriting() {
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace nicmon::http
