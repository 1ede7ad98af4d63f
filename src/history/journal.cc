#include "nicmon/history/journal.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "history/event_store.h"
#include "nicmon/base/log.h"

namespace nicmon {
namespace {

constexpr auto kTrimInterval = std::chrono::hours(1);
/// How long who reads waits for what was recorded before; a disk that is slower shows what it has.
constexpr auto kSettleTime = std::chrono::seconds(1);
/// More wait for their turn; so many threads a disk that hangs can keep.
constexpr size_t kReadsAtOnce = 4;

std::unique_ptr<EventStore> OpenStore(const JournalOptions& options, const Clock& clock) {
  if (options.directory.empty()) {
    return MakeMemoryStore(options);
  }
  std::string error;
  auto store = OpenSqliteStore(options, clock, &error);
  if (store == nullptr) {
    log::Warning("history is kept in memory only", {{"reason", error}});
    return MakeMemoryStore(options);
  }
  return store;
}

}  // namespace

/// Owned by the journal, its thread and every recorder, so that none finds it destroyed.
class Journal::Impl {
 public:
  Impl(const JournalOptions& options, const Clock& clock)
      : room_(options.queue),
        store_(OpenStore(options, clock)),
        next_seq_(store_->last_seq() + 1) {}

  void Record(Transition&& event) {
    {
      std::lock_guard lock(mutex_);
      if (queue_.size() >= room_ || stopping_) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      queue_.push_back(std::move(event));
      ++taken_;
    }
    wake_.notify_one();
  }

  /// Of the thread that has the page: the disk may hang.
  void Query(const EventQuery& query, EventPage* page) {
    {
      std::unique_lock lock(mutex_);
      settle_.wait_for(lock, kSettleTime,
                       [&, taken = taken_] { return settled_ >= taken || !writing_; });
    }
    *page = store_->Query(query);
    if (page->failed) {
      // The thread that owns the file finds out why.
      {
        std::lock_guard lock(mutex_);
        check_ = true;
      }
      write_.notify_one();
    }
  }

  void RequestStop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
  }

  bool WaitEnded(Duration timeout) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, timeout, [this] { return !writing_; });
  }

  static void Start(const std::shared_ptr<Impl>& self) {
    {
      std::lock_guard lock(self->mutex_);
      self->telling_ = self->writing_ = true;
    }
    // Detached: one that hangs in a write is left behind.
    std::thread([self] { self->Tell(); }).detach();
    std::thread([self] { self->Write(); }).detach();
  }

  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  bool durable() const { return store_->durable(); }

  Listener listener_;  // set before the thread starts

 private:
  /// Numbers the records and tells the listener, whatever the disk does.
  void Tell() {
    std::unique_lock lock(mutex_);
    while (telling_) {
      wake_.wait(lock, [this] { return !queue_.empty() || stopping_; });
      std::vector<Transition> batch = std::exchange(queue_, {});
      const bool last = stopping_;  // nothing is queued after it
      lock.unlock();
      for (Transition& event : batch) {
        event.seq = next_seq_++;
      }
      if (listener_ && !batch.empty()) {
        listener_(batch);
      }
      lock.lock();
      telling_ = !last;
      Hand(std::move(batch));
    }
  }

  /// To the thread that writes, as far as there is room: it may hang. Under the mutex.
  void Hand(std::vector<Transition> batch) {
    const size_t taken = std::min(batch.size(), room_ - std::min(room_, unwritten_.size()));
    dropped_.fetch_add(batch.size() - taken, std::memory_order_relaxed);
    left_out_ += batch.size() - taken;
    std::move(batch.begin(), batch.begin() + static_cast<ptrdiff_t>(taken),
              std::back_inserter(unwritten_));
    write_.notify_one();
  }

  void Write() {
    store_->Prepare();
    store_->Trim();
    bool last = false;
    while (!last) {
      std::vector<Transition> batch;
      size_t left_out = 0;
      bool check = false;
      {
        std::unique_lock lock(mutex_);
        write_.wait_for(lock, kTrimInterval,
                        [this] { return !unwritten_.empty() || !telling_ || check_; });
        std::swap(batch, unwritten_);
        left_out = std::exchange(left_out_, 0);
        check = std::exchange(check_, false);
        last = !telling_;  // nothing is handed over after it: this batch is the last
      }
      if (check) {
        store_->Prepare();
      }
      if (!batch.empty()) {
        Append(batch);
      } else if (!last) {
        store_->Trim();
      }
      Settle(batch.size() + left_out);
    }
    std::lock_guard lock(mutex_);
    writing_ = false;
    ended_.notify_all();
    settle_.notify_all();
  }

  void Append(const std::vector<Transition>& batch) {
    if (!store_->Append(batch)) {
      dropped_.fetch_add(batch.size(), std::memory_order_relaxed);
    }
  }

  /// In the order they were taken in, so that no later one stands for one that is still to come.
  void Settle(size_t records) {
    const std::lock_guard lock(mutex_);
    settled_ += records;
    settle_.notify_all();
  }

  const size_t room_;  // of each of the two queues
  const std::unique_ptr<EventStore> store_;
  uint64_t next_seq_;  // the thread's that tells
  std::atomic<uint64_t> dropped_{0};
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_, write_, settle_, ended_;
  std::vector<Transition> queue_;      // not told yet
  std::vector<Transition> unwritten_;  // told
  size_t left_out_ = 0;                // told after those, and no room for them
  uint64_t taken_ = 0;                 // records that were queued
  uint64_t settled_ = 0;               // those of them that were written, or left out
  bool check_ = false;
  bool stopping_ = false;
  bool telling_ = false, writing_ = false;  // the threads run
};

Journal::Journal(const JournalOptions& options, const Clock& clock)
    : impl_(std::make_shared<Impl>(options, clock)),
      patience_(options.patience),
      reads_(kReadsAtOnce) {}

Journal::~Journal() {
  impl_->RequestStop();
}

void Journal::Subscribe(Listener listener) {
  impl_->listener_ = std::move(listener);
}

void Journal::Start() {
  Impl::Start(impl_);
}

bool Journal::Stop(Duration timeout) {
  impl_->RequestStop();
  return impl_->WaitEnded(timeout);
}

RecordTransition Journal::recorder() const {
  return [impl = impl_](Transition event) { impl->Record(std::move(event)); };
}

EventPage Journal::Query(const EventQuery& query) const {
  const auto page = std::make_shared<EventPage>();
  if (!durable()) {
    impl_->Query(query, page.get());
    return std::move(*page);
  }
  const auto outcome =
      reads_.Run([impl = impl_, page, query] { impl->Query(query, page.get()); }, patience_);
  if (outcome == BoundedCalls::Outcome::kDone) {
    return std::move(*page);
  }
  EventPage failed;
  failed.failed = true;
  return failed;
}

uint64_t Journal::dropped() const {
  return impl_->dropped();
}

bool Journal::durable() const {
  return impl_->durable();
}

}  // namespace nicmon
