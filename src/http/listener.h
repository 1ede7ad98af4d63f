#pragma once

#include <memory>
#include <thread>

#include "http/connection.h"
#include "http/connection_table.h"
#include "nicmon/base/epoll.h"

namespace nicmon::http {

/// Accepts on one listening socket, one thread per connection. Connection threads are detached and
/// own what they touch through `shared_ptr`s, so a handler that hangs never blocks the stop.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  /// `fd` is not owned and must stay open until Stop() has returned.
  Listener(int fd, bool admin_socket, size_t max_connections, ConnectionLimits limits,
           Connection::Handler handler, std::shared_ptr<HttpStats> stats);
  ~Listener();

  void Start();
  /// Ends accepting (the thread is joined) and shuts the connections down.
  void Stop();
  /// Whether all connections were gone within `timeout`.
  bool WaitEmpty(Duration timeout) { return table_.WaitEmpty(timeout); }

 private:
  void Run();
  void Accept();
  void Serve(UniqueFd fd, const Peer& peer, uint64_t id);

  const int fd_;
  const bool admin_socket_;
  const ConnectionLimits limits_;
  const Connection::Handler handler_;
  const std::shared_ptr<HttpStats> stats_;
  const Clock clock_;  // always the real one: poll() knows no other
  ConnectionTable table_;
  Waker stop_;
  std::thread thread_;
};

}  // namespace nicmon::http
