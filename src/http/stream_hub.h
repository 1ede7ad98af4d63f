#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "http/message.h"
#include "http/stream_differ.h"
#include "nicmon/http/http_stats.h"
#include "nicmon/http/server.h"

namespace nicmon::http {

class StreamClient;

/// The clients of the event stream. One thread renders every change once for all of them; each
/// client has a queue of its own, and one that does not empty it is dropped. Thread-safe.
class StreamHub : public std::enable_shared_from_this<StreamHub> {
 public:
  StreamHub(const StreamOptions& options, std::function<NodeView()> view, About about,
            std::shared_ptr<HttpStats> stats);
  ~StreamHub();

  /// A client, which leaves with its last owner; nullptr: there are as many as may be.
  std::shared_ptr<ReplyStream> Join(const std::string& who);
  /// Never blocks.
  void OnRecords(std::span<const Transition> records);
  /// Ends all clients and the thread.
  void Stop();

 private:
  using Clients = std::vector<std::shared_ptr<StreamClient>>;
  class Member;

  void Run();
  bool NextTurn(StreamTurn* turn, Clients* old_clients, Clients* new_clients);
  void Send(const Clients& clients, const std::vector<std::string>& events);
  void Leave(const std::shared_ptr<StreamClient>& client);

  const StreamOptions options_;
  const std::function<NodeView()> view_;
  const std::shared_ptr<HttpStats> stats_;
  StreamDiffer differ_;                            // the thread's
  SteadyTime next_refresh_{}, next_keep_alive_{};  // the thread's
  std::mutex mutex_;                               // guards all below
  std::condition_variable wake_;
  Clients clients_;      // that had their snapshot
  Clients new_clients_;  // that wait for it
  StreamTurn waiting_;   // what the next turn has to tell
  bool stopping_ = false;
  std::thread thread_;  // from the first client on
};

}  // namespace nicmon::http
