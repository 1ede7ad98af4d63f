#pragma once

#include <functional>
#include <string>

#include "http/connection_table.h"
#include "http/message.h"
#include "http/request_head.h"
#include "nicmon/base/clock.h"
#include "nicmon/base/unique_fd.h"
#include "nicmon/http/http_stats.h"

namespace nicmon::http {

struct ConnectionLimits {
  Duration request_timeout;  // from a request's first byte (or the accept) to its last
  Duration idle_timeout;     // between two requests
  Duration write_timeout;    // for a whole reply
};

/// One client on its own thread: reads whole requests under absolute deadlines and byte caps, has
/// them answered, and writes the replies. Everything waits in poll(), so a shutdown of the socket
/// from outside ends it at once.
class Connection {
 public:
  using Handler = std::function<Reply(const Request&)>;

  /// All references must outlive the object; `id` is its entry in `table`.
  Connection(UniqueFd fd, Peer peer, uint64_t id, ConnectionTable& table, const Handler& handler,
             HttpStats& stats, const Clock& clock, const ConnectionLimits& limits);
  ~Connection();

  /// Until the client, a limit, an error or the table's Stop() ends it. Never throws.
  void Serve();

 private:
  enum class Read { kOk, kClosed, kTimeout };

  bool ServeOne(bool first, bool last);
  /// Reads until buffer_ holds a whole head; `*size` is its length.
  Read ReadHead(SteadyTime deadline, size_t* size, bool* malformed);
  Read ReadBody(SteadyTime deadline, size_t end);
  Read ReadSome(SteadyTime deadline);
  bool WaitFor(short events, SteadyTime deadline);
  bool Write(const std::string& bytes, SteadyTime deadline);
  bool Answer(const std::string& method, Reply reply, bool close, SteadyTime started);
  void Stream(const Reply& reply, SteadyTime started);
  bool WaitForStream(const ReplyStream& stream);
  void Reject(const std::string& method, const Rejection& rejection);
  void Drain();

  UniqueFd fd_;
  const Peer peer_;
  const uint64_t id_;
  ConnectionTable& table_;
  const Handler& handler_;
  HttpStats& stats_;
  const Clock& clock_;
  const ConnectionLimits& limits_;
  std::string buffer_;  // what came in and is not yet part of a served request
};

/// Writes a reply to a client that gets no thread, without waiting.
void AnswerAndClose(UniqueFd fd, const Reply& reply);

}  // namespace nicmon::http
