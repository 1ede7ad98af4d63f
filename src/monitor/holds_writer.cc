#include "nicmon/monitor/holds_writer.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace nicmon {

struct HoldsWriter::State {
  std::shared_ptr<Holds> holds;
  Duration period;
  std::mutex mutex;  // guards the flags below
  std::condition_variable changed;
  bool running = false;
  bool stopping = false;
  bool all_written = false;
};

HoldsWriter::HoldsWriter(std::shared_ptr<Holds> holds, Duration period)
    : state_(std::make_shared<State>()) {
  state_->holds = std::move(holds);
  state_->period = period;
}

HoldsWriter::~HoldsWriter() {
  (void)Stop(Duration(0));
}

void HoldsWriter::Start() {
  state_->running = true;
  std::thread([state = state_] { Run(state); }).detach();
}

void HoldsWriter::Run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    const bool last = state->stopping;
    lock.unlock();
    const bool all_written = state->holds->Flush();
    state->holds->CheckLost();
    lock.lock();
    if (last) {
      state->all_written = all_written;
      state->running = false;
      state->changed.notify_all();
      return;
    }
    state->changed.wait_for(lock, state->period, [&] { return state->stopping; });
  }
}

bool HoldsWriter::Stop(Duration timeout) {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, timeout, [this] { return !state_->running; });
  return state_->all_written;
}

}  // namespace nicmon
