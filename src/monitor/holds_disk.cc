#include <atomic>
#include <utility>

#include "holds_text.h"
#include "nicmon/base/log.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/holds_file.h"

// How the state gets to the disk, which may be full, read-only or hang.
namespace nicmon {

Holds::Result Holds::Durably(std::string* why, const Decide& decide) {
  const auto deadline = std::chrono::steady_clock::now() + home_.patience;
  std::string error;
  std::unique_lock lock(mutex_);
  if (!idle_.wait_until(lock, deadline, [this] { return !writing_; })) {
    error = "an earlier write has not come back from the disk";
  } else {
    auto ready = std::make_shared<HoldsSnapshot>(*published_.load());
    Effect effect;
    const Result result = decide(*ready, &effect);
    if (!effect) {
      return result;
    }
    HoldsSnapshot wanted = *ready;
    published_.store(std::move(ready));
    effect(wanted);
    ++generation_;
    error = Write(lock, wanted, deadline - std::chrono::steady_clock::now());
    if (error.empty()) {
      auto next = std::make_shared<HoldsSnapshot>(*published_.load());
      effect(*next);
      published_.store(std::move(next));
      return result;
    }
  }
  if (why != nullptr) {
    *why = error;
  }
  return Result::kNotStored;
}

std::string Holds::WriteFile(const std::string& text, Duration patience) {
  struct Attempt {
    std::shared_ptr<HoldsFile> file;
    std::string text, error;
    std::atomic<bool> given_up = false;
  };
  const auto attempt = std::make_shared<Attempt>();
  attempt->file = home_.file;
  attempt->text = text;
  const auto outcome = disk_.Run(
      [attempt] {
        attempt->error =
            attempt->file->Write(attempt->text, [&attempt] { return !attempt->given_up; });
      },
      patience);
  if (outcome == BoundedCalls::Outcome::kDone) {
    return attempt->error;
  }
  attempt->given_up = true;
  return home_.file->path() + ": the disk does not answer";
}

std::string Holds::Write(std::unique_lock<std::mutex>& lock, const HoldsSnapshot& state,
                         Duration patience) {
  if (!home_.file) {
    return {};
  }
  writing_ = true;
  const uint64_t generation = generation_;
  lock.unlock();
  std::string text = HoldsText(state);
  std::string error = text != written_text_ ? WriteFile(text, patience) : "";
  // After an error the file may be either: it is written again until it is what we have.
  written_text_ = error.empty() ? std::move(text) : "";
  lock.lock();
  writing_ = false;
  written_ = error.empty() ? generation : UINT64_MAX;
  if (error != write_error_) {
    write_error_ = error;
    if (error.empty()) {
      log::Info("holds can be written again", {{"file", home_.file->path()}});
    } else {
      log::Error("holds cannot be written, pause and release answer 503", {{"reason", error}});
    }
    auto next = std::make_shared<HoldsSnapshot>(*published_.load());
    next->durable = error.empty();
    published_.store(std::move(next));
  }
  idle_.notify_all();
  return error;
}

bool Holds::Flush() {
  std::unique_lock lock(mutex_);
  if (!home_.file || writing_ || written_ == generation_) {
    return !writing_;
  }
  const auto state = published_.load();
  return Write(lock, *state, home_.patience).empty();
}

void Holds::CheckLost() {
  std::unique_lock lock(mutex_);
  if (!home_.file || writing_ || !published_.load()->lost) {
    return;
  }
  writing_ = true;
  lock.unlock();
  const auto lost = std::make_shared<bool>(true);
  const auto outcome =
      disk_.Run([lost, file = home_.file] { *lost = file->BrokenBeside(); }, home_.patience);
  lock.lock();
  writing_ = false;
  if (outcome == BoundedCalls::Outcome::kDone && !*lost) {
    auto next = std::make_shared<HoldsSnapshot>(*published_.load());
    next->lost = false;
    published_.store(std::move(next));
  }
  idle_.notify_all();
}

}  // namespace nicmon
