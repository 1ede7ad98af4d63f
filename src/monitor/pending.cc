#include "nicmon/monitor/pending.h"

#include <utility>

namespace nicmon {

bool Pending::Start() {
  std::lock_guard lock(mutex_);
  if (state_ != State::kQueued) {
    return false;
  }
  state_ = State::kRunning;
  return true;
}

void Pending::Finish(CommandResult result) {
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kDone) {
      return;  // the caller was told already that nicmon stops
    }
    result_ = std::move(result);
    state_ = State::kDone;
  }
  changed_.notify_all();
}

void Pending::Stop() {
  CommandResult result;
  result.code = CommandResult::Code::kStopping;
  Finish(std::move(result));
}

Pending::State Pending::Wait(Duration timeout, CommandResult* result) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return state_ == State::kDone; });
  if (state_ == State::kQueued) {
    state_ = State::kAbandoned;
  }
  if (state_ == State::kDone && result != nullptr) {
    *result = result_;
  }
  return state_;
}

}  // namespace nicmon
