#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace nicmon::log {

/// Finished lines on their way from any thread to a file descriptor whose reader may be slow, gone
/// or asleep. Owned by the logger and by the writer thread, so that the latter can be left behind.
class LineQueue {
 public:
  /// `notice` gives the line that stands where lines were dropped.
  explicit LineQueue(std::function<std::string(uint64_t dropped)> notice)
      : notice_(std::move(notice)) {}

  /// Never waits for the reader: a full queue loses its oldest lines, which are counted.
  void Push(std::string line);

  /// The writer thread: writes lines to `fd` until Close() and then until nothing is left or the
  /// deadline has passed.
  void Run(int fd);

  /// No more waiting: Run() is to end before `deadline`. Whether it did.
  bool Close(std::chrono::steady_clock::time_point deadline);

 private:
  struct Batch {
    uint64_t dropped = 0;
    std::string line;
  };
  bool WaitForLines();
  std::optional<Batch> Take();
  bool Expired();
  bool WaitWritable(int fd);
  bool Put(int fd, const std::string& line);

  const std::function<std::string(uint64_t)> notice_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;  // since the last notice
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool ended_ = false;
};

}  // namespace nicmon::log
