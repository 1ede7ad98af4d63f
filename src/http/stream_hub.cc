#include "http/stream_hub.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "nicmon/base/epoll.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

/// Records between two turns of the hub; with more of them a snapshot tells it shorter.
constexpr size_t kMaxRecords = 8192;

SteadyTime SteadyNow() {
  return std::chrono::steady_clock::now();  // what condition variables wait by
}

}  // namespace

/// The queue between the hub and one client's connection. Events are shared by all clients.
class StreamClient {
 public:
  using Event = std::shared_ptr<const std::string>;

  explicit StreamClient(std::string who) : who_(std::move(who)) {}

  const std::string& who() const { return who_; }
  int wake_fd() const { return waker_.fd(); }

  /// False when the client is too far behind; it is over for it then.
  bool Push(std::span<const Event> events, size_t max_bytes) {
    {
      std::lock_guard lock(mutex_);
      for (const Event& event : events) {
        bytes_ += event->size();
        queue_.push_back(event);
      }
      if (bytes_ > max_bytes) {
        queue_.clear();
        over_ = true;
      }
      if (over_) {
        waker_.Wake();
        return false;
      }
    }
    waker_.Wake();
    return true;
  }

  void End() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    waker_.Wake();
  }

  std::optional<std::string> Take(size_t max) {
    std::string piece;
    std::lock_guard lock(mutex_);
    if (over_) {
      return std::nullopt;
    }
    while (!queue_.empty() && piece.size() < max) {
      // A snapshot of many ports alone may be larger than a piece.
      const std::string& front = *queue_.front();
      const size_t size = std::min(front.size() - offset_, max - piece.size());
      piece.append(front, offset_, size);
      offset_ += size;
      if (offset_ == front.size()) {
        bytes_ -= front.size();
        queue_.pop_front();
        offset_ = 0;
      }
    }
    if (queue_.empty()) {
      waker_.Clear();
    }
    return piece;
  }

 private:
  const std::string who_;
  Waker waker_;
  std::mutex mutex_;  // guards all below
  std::deque<Event> queue_;
  size_t offset_ = 0;  // of the first event that is not taken yet
  size_t bytes_ = 0;   // in queue_
  bool over_ = false;
};

/// What a connection has of the hub; leaves it when it goes.
class StreamHub::Member : public ReplyStream {
 public:
  Member(std::shared_ptr<StreamHub> hub, std::shared_ptr<StreamClient> client)
      : hub_(std::move(hub)), client_(std::move(client)) {}
  ~Member() override { hub_->Leave(client_); }

  int wake_fd() const override { return client_->wake_fd(); }
  std::optional<std::string> Take(size_t max) override { return client_->Take(max); }

 private:
  const std::shared_ptr<StreamHub> hub_;
  const std::shared_ptr<StreamClient> client_;
};

StreamHub::StreamHub(const StreamOptions& options, std::function<NodeView()> view, About about,
                     std::shared_ptr<HttpStats> stats)
    : options_(options),
      view_(std::move(view)),
      stats_(std::move(stats)),
      differ_(std::move(about)) {}

StreamHub::~StreamHub() {
  Stop();
}

std::shared_ptr<ReplyStream> StreamHub::Join(const std::string& who) {
  auto client = std::make_shared<StreamClient>(who);
  {
    std::lock_guard lock(mutex_);
    const size_t count = clients_.size() + new_clients_.size();
    if (stopping_ || count >= options_.max_clients) {
      return nullptr;
    }
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { Run(); });
    }
    new_clients_.push_back(client);
    stats_->StreamClients(static_cast<int>(count + 1));
  }
  wake_.notify_one();
  return std::make_shared<Member>(shared_from_this(), std::move(client));
}

void StreamHub::Leave(const std::shared_ptr<StreamClient>& client) {
  std::lock_guard lock(mutex_);
  std::erase(clients_, client);
  std::erase(new_clients_, client);
  stats_->StreamClients(static_cast<int>(clients_.size() + new_clients_.size()));
}

void StreamHub::OnRecords(std::span<const Transition> records) {
  {
    std::lock_guard lock(mutex_);
    if (!records.empty()) {
      waiting_.seq = records.back().seq;
    }
    if (clients_.empty() || stopping_) {
      return;  // a client that waits for its snapshot finds it all in there
    }
    if (waiting_.records.size() + records.size() > kMaxRecords) {
      waiting_.records.clear();
      waiting_.resync = true;
    } else {
      waiting_.records.insert(waiting_.records.end(), records.begin(), records.end());
    }
  }
  wake_.notify_one();
}

void StreamHub::Stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const Clients* clients : {&clients_, &new_clients_}) {
      for (const auto& client : *clients) {
        client->End();
      }
    }
    std::swap(thread, thread_);
  }
  wake_.notify_one();
  if (thread.joinable()) {
    thread.join();
  }
}

/// Waits until there is something to tell; false when stopping.
bool StreamHub::NextTurn(StreamTurn* turn, Clients* old_clients, Clients* new_clients) {
  std::unique_lock lock(mutex_);
  const auto due = [this] {
    return stopping_ || !new_clients_.empty() || !waiting_.records.empty() || waiting_.resync;
  };
  if (clients_.empty()) {
    wake_.wait(lock, due);
  } else {
    wake_.wait_until(lock, next_refresh_, due);
  }
  *old_clients = clients_;
  *new_clients = std::exchange(new_clients_, {});
  clients_.insert(clients_.end(), new_clients->begin(), new_clients->end());
  const uint64_t seq = waiting_.seq;
  *turn = std::exchange(waiting_, {});
  turn->seq = waiting_.seq = seq;
  return !stopping_;
}

void StreamHub::Run() {
  StreamTurn turn;
  Clients old_clients;
  Clients new_clients;
  while (NextTurn(&turn, &old_clients, &new_clients)) {
    const SteadyTime now = SteadyNow();
    turn.refresh = now >= next_refresh_;
    next_refresh_ = turn.refresh ? now + options_.refresh : next_refresh_;
    const NodeView view = view_();
    // Even when nobody is there yet: from here on it is changes against this view that are told.
    turn.resync = turn.resync || old_clients.empty();
    std::vector<std::string> events = differ_.Events(view, turn);
    if (events.empty() && now >= next_keep_alive_) {
      events.emplace_back(": keep-alive\n\n");
    }
    if (!events.empty()) {
      next_keep_alive_ = now + options_.keep_alive;
    }
    Send(old_clients, events);
    if (!new_clients.empty()) {
      // A browser that loses us asks again after two seconds.
      Send(new_clients, {"retry: 2000\n\n", differ_.Snapshot(view, turn.seq)});
    }
  }
}

void StreamHub::Send(const Clients& clients, const std::vector<std::string>& events) {
  if (clients.empty() || events.empty()) {
    return;
  }
  std::vector<StreamClient::Event> shared;
  shared.reserve(events.size());
  for (const std::string& event : events) {
    shared.push_back(std::make_shared<const std::string>(event));
  }
  for (const auto& client : clients) {
    if (!client->Push(shared, options_.backlog_bytes)) {
      stats_->Rejected("timeout");
      log::Info("stream client dropped, it reads too slowly", {{"client", client->who()}});
      Leave(client);
    }
  }
}

}  // namespace nicmon::http
