#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nicmon/base/unique_fd.h"

namespace nicmon {

/// Names one registration in an Epoll. The generation makes a stale id (an event that was already
/// fetched for a registration removed since) harmless: it matches nothing.
struct WatchId {
  uint32_t slot = 0;
  uint32_t generation = 0;  // 0 is never valid
  friend bool operator==(const WatchId&, const WatchId&) = default;
};

/// An epoll set that carries ids, never pointers. Used by one thread.
class Epoll {
 public:
  struct Ready {
    WatchId id;
    uint32_t events = 0;  // EPOLLIN | …
  };

  /// Throws std::system_error when the set cannot be created.
  Epoll();

  /// Adds `fd` (not owned) for `events`. Returns a WatchId with generation 0 on failure, errno set.
  WatchId Add(int fd, uint32_t events);

  /// Removes a registration; harmless when it is already gone. Call before the fd is closed.
  void Remove(WatchId id);

  /// Whether `id` is a live registration.
  bool Contains(WatchId id) const;

  /// Waits at most `timeout_ms` (-1: for ever) and returns what is ready; empty on timeout or
  /// EINTR. The span is valid until the next call.
  std::span<const Ready> Wait(int timeout_ms);

 private:
  struct Slot {
    int fd = -1;
    uint32_t generation = 1;
  };
  UniqueFd fd_;
  std::vector<Slot> slots_;
  std::vector<Ready> ready_;
};

/// A registration that ends with its owner.
class EpollRegistration {
 public:
  EpollRegistration() = default;
  EpollRegistration(Epoll& epoll, int fd, uint32_t events)
      : epoll_(&epoll), id_(epoll.Add(fd, events)) {}
  EpollRegistration(EpollRegistration&& other) noexcept
      : epoll_(std::exchange(other.epoll_, nullptr)), id_(std::exchange(other.id_, {})) {}
  EpollRegistration& operator=(EpollRegistration&& other) noexcept {
    std::swap(epoll_, other.epoll_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~EpollRegistration() {
    if (epoll_ != nullptr) {
      epoll_->Remove(id_);
    }
  }

  WatchId id() const { return id_; }
  explicit operator bool() const { return id_.generation != 0; }

 private:
  Epoll* epoll_ = nullptr;
  WatchId id_;
};

/// Wakes an Epoll loop from any thread (an eventfd). Several Wake() calls may fold into one.
class Waker {
 public:
  /// Throws std::system_error when the eventfd cannot be created.
  Waker();
  int fd() const { return fd_.get(); }
  void Wake();
  void Clear();

 private:
  UniqueFd fd_;
};

}  // namespace nicmon
