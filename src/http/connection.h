#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "http/connection_table.h"
#include "http/message.h"
#include "http/request_head.h"
#include "http/wire.h"
#include "nicmon/base/clock.h"
#include "nicmon/base/rate_limit.h"
#include "nicmon/base/unique_fd.h"
#include "nicmon/http/http_stats.h"

namespace nicmon::http {

struct ConnectionLimits {
  Duration request_timeout;  // from a request's first byte (or the accept) to its last
  Duration idle_timeout;     // between two requests
  Duration write_timeout;    // for a whole reply
};

/// What all connections of a listener share. Thread-safe where it can be changed.
struct ConnectionShared {
  using Handler = std::function<Reply(const Request&)>;
  /// What a connection of that id speaks TLS by; nullptr: plain. Asked before its first byte.
  using Tls = std::function<std::shared_ptr<const TlsContext>(uint64_t id)>;

  const Clock clock;  // always the real one: poll() knows no other
  ConnectionTable table;
  const ConnectionLimits limits;
  const Handler handler;
  const Tls tls;  // empty: always plain
  const std::shared_ptr<HttpStats> stats;
  std::mutex refusals_mutex{};  // guards refusals
  RateLimit refusals{};         // of log lines about handshakes that failed
};

/// One client on its own thread: reads whole requests under absolute deadlines and byte caps, has
/// them answered, and writes the replies.
class Connection {
 public:
  /// `shared` must outlive the object; `id` is its entry in the table.
  Connection(UniqueFd fd, Peer peer, uint64_t id, ConnectionShared& shared);
  ~Connection();

  /// Until the client, a limit, an error or the table's Stop() ends it. Never throws.
  void Serve();

 private:
  /// Plain, or with the handshake behind it; false: there is nothing to be served.
  bool Open(SteadyTime deadline);
  bool StartTls(const std::shared_ptr<const TlsContext>& context, SteadyTime deadline);
  bool ServeOne(SteadyTime deadline, bool last);
  bool Answer(const std::string& method, Reply reply, bool close, SteadyTime started);
  void Stream(const Reply& reply, SteadyTime started);
  bool WaitForStream(const ReplyStream& stream);
  void Reject(const std::string& method, const Rejection& rejection);
  void Count(int status, SteadyTime started);
  SteadyTime now() const { return shared_.clock.steady(); }

  ConnectionShared& shared_;
  Wire wire_;
  Peer peer_;
  const uint64_t id_;
  std::string buffer_;  // what came in and is not yet part of a served request
};

/// Writes a reply to a client that gets no thread, without waiting.
void AnswerAndClose(UniqueFd fd, const Reply& reply);

}  // namespace nicmon::http
