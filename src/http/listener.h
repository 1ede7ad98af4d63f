#pragma once

#include <memory>
#include <thread>

#include "http/connection.h"
#include "http/connection_table.h"
#include "nicmon/base/detached_threads.h"
#include "nicmon/base/epoll.h"

namespace nicmon::http {

/// Accepts on one listening socket, one thread per connection. Connection threads are detached and
/// own what they touch through `shared_ptr`s, so a handler that hangs never blocks the stop.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  /// `fd` is not owned and must stay open until Stop() has returned. `tls` may be empty.
  Listener(int fd, bool admin_socket, size_t max_connections, ConnectionLimits limits,
           ConnectionShared::Handler handler, ConnectionShared::Tls tls,
           std::shared_ptr<HttpStats> stats);
  ~Listener();

  void Start();
  /// Ends accepting (the thread is joined) and shuts the connections down.
  void Stop();
  /// Whether all connections, with their threads, were gone within `timeout`; the rest is shut down
  /// for good.
  bool WaitEmpty(Duration timeout);
  /// As ConnectionTable's.
  void EndOthers(uint64_t except) { shared_.table.EndOthers(except); }

 private:
  void Run();
  void Accept();
  void Serve(UniqueFd fd, const Peer& peer, uint64_t id);

  const int fd_;
  const bool admin_socket_;
  ConnectionShared shared_;
  Waker stop_;
  std::thread thread_;
  DetachedThreads threads_;
};

}  // namespace nicmon::http
