#include "log_queue.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "nicmon/base/log.h"

namespace nicmon::log {
namespace {

/// How long the writer sleeps before it looks whether it is to give up.
constexpr int kPollSliceMs = 50;

}  // namespace

void LineQueue::Push(std::string line) {
  uint64_t lost = 0;
  {
    std::lock_guard lock(mutex_);
    while (!lines_.empty() &&
           (lines_.size() >= kQueueRecords || bytes_ + line.size() > kQueueBytes)) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
      ++lost;
    }
    dropped_ += lost;
    bytes_ += line.size();
    lines_.push_back(std::move(line));
  }
  changed_.notify_all();
  if (lost > 0) {
    CountSuppressed(lost);
  }
}

bool LineQueue::Close(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  deadline_ = deadline;
  changed_.notify_all();
  return changed_.wait_until(lock, deadline, [this] { return ended_; });
}

void LineQueue::Run(int fd) {
  // A line is taken only once the reader is there, so that what is dropped meanwhile is older than
  // what follows the notice.
  while (WaitForLines() && WaitWritable(fd)) {
    const std::optional<Batch> batch = Take();
    if (!batch || (batch->dropped > 0 && !Put(fd, notice_(batch->dropped))) ||
        !Put(fd, batch->line)) {
      break;
    }
  }
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

/// False when there is nothing left to write and there will not be.
bool LineQueue::WaitForLines() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !lines_.empty() || deadline_.has_value(); });
  return !lines_.empty();
}

std::optional<LineQueue::Batch> LineQueue::Take() {
  std::lock_guard lock(mutex_);
  if (lines_.empty()) {
    return std::nullopt;
  }
  Batch batch{std::exchange(dropped_, 0), std::move(lines_.front())};
  lines_.pop_front();
  bytes_ -= batch.line.size();
  return batch;
}

bool LineQueue::Expired() {
  std::lock_guard lock(mutex_);
  return deadline_ && std::chrono::steady_clock::now() >= *deadline_;
}

/// False when the deadline passed first. An error counts as writable: write() will name it.
bool LineQueue::WaitWritable(int fd) {
  while (!Expired()) {
    pollfd wait{fd, POLLOUT, 0};
    const int ready = ::poll(&wait, 1, kPollSliceMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) {
      return !Expired();  // by now the descriptor may be somebody else's
    }
  }
  return false;
}

/// Writes one line, in pieces that a pipe which poll() calls writable takes without blocking. False
/// when the deadline passed; a line that nobody can be given is lost and counted.
bool LineQueue::Put(int fd, const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    if (!WaitWritable(fd)) {
      return false;
    }
    const size_t piece = std::min<size_t>(line.size() - done, PIPE_BUF);
    const ssize_t written = ::write(fd, line.data() + done, piece);
    if (written > 0) {
      done += static_cast<size_t>(written);
    } else if (written == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      CountSuppressed(1);
      return true;
    }
  }
  return true;
}

}  // namespace nicmon::log
