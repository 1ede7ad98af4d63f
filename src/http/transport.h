#pragma once

#include <cstddef>
#include <string_view>

namespace nicmon::http {

/// What the bytes of a connection pass through on their way to and from a non-blocking socket.
/// Nothing here waits: whoever calls does, for as long as it sees fit.
class Transport {
 public:
  enum class Status {
    kDone,    // `size` bytes moved
    kAgain,   // nothing moved yet: poll() for `wait_for`, then call again
    kClosed,  // the end of the stream, or an error
  };
  struct Result {
    Status status;
    size_t size = 0;
    short wait_for = 0;  // POLLIN or POLLOUT
  };

  virtual ~Transport() = default;
  virtual Result Read(char* data, size_t size) = 0;
  virtual Result Write(std::string_view bytes) = 0;
  /// Tells the other end that nothing more comes, as far as that goes without waiting.
  virtual void EndWriting() = 0;
};

/// The bytes as they are. The descriptor is not owned.
class PlainTransport : public Transport {
 public:
  explicit PlainTransport(int fd) : fd_(fd) {}
  Result Read(char* data, size_t size) override;
  Result Write(std::string_view bytes) override;
  void EndWriting() override;

 private:
  const int fd_;
};

}  // namespace nicmon::http
