#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nicmon::http {

/// Who is at the other end of a connection.
struct Peer {
  bool admin_socket = false;  // came over the unix socket
  bool loopback = false;      // TCP from this host
  bool tls = false;
  std::string certificate;   // name of its verified certificate; empty without one
  std::string address;       // numeric, without the port; empty on the unix socket
  std::optional<uid_t> uid;  // unix socket only, from the kernel
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// One complete request. Names of headers are lower-case; nothing is percent-decoded yet.
struct Request {
  std::string method;
  std::string path;   // from the first '/' to before '?'
  std::string query;  // after '?', empty without one
  bool http_1_0 = false;
  Headers headers;
  std::string body;
  Peer peer;

  /// nullptr when absent. Headers that must not be repeated are not (see ParseHead).
  const std::string* Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) {
        return &value;
      }
    }
    return nullptr;
  }
};

/// A body without an end of its own.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  /// Readable while there may be something to take.
  virtual int wake_fd() const = 0;
  /// The next piece, of about `max` bytes at most; empty: nothing now. nullopt: it is over.
  virtual std::optional<std::string> Take(size_t max) = 0;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  Headers headers;
  std::string body;
  std::shared_ptr<ReplyStream> stream;  // in place of a body; the connection ends with it
};

/// `{"error":{"code","message","hint"}}` with a status of 400 or more.
Reply ErrorReply(int status, std::string_view code, std::string_view message,
                 std::string_view hint);

/// A value, or the reply that says why there is none.
template <typename T>
struct Expected {
  std::optional<T> value;
  Reply error;

  Expected(T v) : value(std::move(v)) {}               // NOLINT: meant to convert
  Expected(Reply e) : value(), error(std::move(e)) {}  // NOLINT: meant to convert
  explicit operator bool() const { return value.has_value(); }
  T& operator*() { return *value; }
  T* operator->() { return &*value; }
};

}  // namespace nicmon::http
