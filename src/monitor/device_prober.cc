#include "nicmon/monitor/device_prober.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "nicmon/base/log.h"
#include "nicmon/device/loopback_probe.h"
#include "nicmon/sysfs/identity.h"

namespace nicmon {
namespace {

/// A loopback takes microseconds; one that is retried by the hardware some tenths of a second.
constexpr Duration kCompletionPatience = std::chrono::seconds(2);
/// Between two attempts to build the data path that is kept.
constexpr Duration kRebuild = std::chrono::seconds(30);

}  // namespace

struct DeviceProber::State {
  /// What a probe or a rebuild is about, as of its beginning.
  struct Target {
    std::string device;
    int kernel_index = -1;
    uint64_t opening = 0;

    AcquireOptions options() const {
      AcquireOptions options;
      options.name = device;
      if (kernel_index >= 0) {
        options.kernel_index = kernel_index;
      }
      return options;
    }
  };

  const std::shared_ptr<const VerbsApi> verbs;
  const SysfsFiles sysfs;
  const DataPathMode mode;

  mutable std::mutex mutex;  // guards all below
  std::condition_variable changed;
  bool open = false;
  bool stopping = false;
  bool probing = false;
  uint32_t ports = 0;
  Target target;                   // its `opening` counts Opened()
  std::unique_ptr<DataPath> kept;  // of this opening; a probe that runs has it
  SteadyTime next_build{};
  std::string note;  // why there is none

  /// One probe, from the opening of its own context on or over the one that is kept.
  ProbeResult Run(const Target& about, uint32_t port);
  ProbeResult Build(const Target& about, std::unique_ptr<DataPath>* path) const;
  void GiveBack(const Target& about, std::unique_ptr<DataPath> path, std::string why_none);
};

DeviceProber::DeviceProber(std::shared_ptr<const VerbsApi> verbs, SysfsFiles sysfs,
                           DataPathMode mode)
    : state_(new State{std::move(verbs), std::move(sysfs), mode}) {}

DeviceProber::~DeviceProber() {
  Closed();
}

void DeviceProber::Opened(const std::string& device, int kernel_index, uint32_t ports) {
  const std::lock_guard lock(state_->mutex);
  state_->open = true;
  state_->ports = ports;
  state_->target = {device, kernel_index, state_->target.opening + 1};
  state_->next_build = {};
  state_->note.clear();
}

void DeviceProber::Closed() {
  std::unique_ptr<DataPath> kept;  // given back without the mutex: closing may hang
  const std::lock_guard lock(state_->mutex);
  state_->open = false;
  state_->note.clear();
  kept = std::move(state_->kept);
}

void DeviceProber::Tick(SteadyTime now) {
  State& state = *state_;
  if (state.mode != DataPathMode::kAlways) {
    return;
  }
  std::unique_ptr<DataPath> path;
  State::Target about;
  {
    const std::lock_guard lock(state.mutex);
    if (!state.open || state.probing || (!state.kept && now < state.next_build)) {
      return;
    }
    path = std::move(state.kept);
    about = state.target;
    state.next_build = now + kRebuild;
  }
  std::string note;
  if (path == nullptr || !path->Drain()) {
    path.reset();
    try {
      path = std::make_unique<DataPath>(state.verbs, about.options());
    } catch (const AcquireError& error) {
      note = error.what();
    }
  }
  const std::lock_guard lock(state.mutex);
  if (!note.empty() && note != state.note) {
    log::Warning("the data path cannot be built",
                 {{"device", about.device}, {"reason", note}, {"again", "every 30 s"}});
  }
  state.note = note;
  if (state.kept == nullptr) {  // else a probe has left its own meanwhile, and ours is closed
    state.kept = std::move(path);
  }
}

DataPathStatus DeviceProber::status() const {
  const std::lock_guard lock(state_->mutex);
  DataPathStatus status;
  status.mode = state_->mode;
  status.note = state_->note;
  if (state_->mode == DataPathMode::kAlways) {
    status.ready = state_->kept != nullptr || (state_->probing && state_->note.empty());
  }
  return status;
}

bool DeviceProber::probing() const {
  const std::lock_guard lock(state_->mutex);
  return state_->probing;
}

void DeviceProber::Stop() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
}

ProbeResult DeviceProber::State::Build(const Target& about, std::unique_ptr<DataPath>* path) const {
  ProbeResult result;
  const auto start = std::chrono::steady_clock::now();
  try {
    *path = std::make_unique<DataPath>(verbs, about.options());
  } catch (const AcquireError& error) {
    result.failed = ProbeStep::kOpen;
    result.error = error.what();
    result.hint = AcquireHint(error);
  }
  result.total = std::chrono::steady_clock::now() - start;
  result.steps.push_back({ProbeStep::kOpen, result.total});
  return result;
}

ProbeResult DeviceProber::State::Run(const Target& about, uint32_t port) {
  std::unique_ptr<DataPath> path;
  {
    const std::lock_guard lock(mutex);
    path = std::move(kept);
  }
  ProbeResult opened;
  if (path == nullptr) {
    opened = Build(about, &path);
    if (path == nullptr) {
      GiveBack(about, nullptr, opened.error);
      return opened;
    }
  }
  ProbeResult result = ProbeLoopback(
      *path, port,
      [this, &about, port](uint32_t index) {
        return ReadGidNetdev(sysfs, about.device, port, index);
      },
      kCompletionPatience);
  result.steps.insert(result.steps.begin(), opened.steps.begin(), opened.steps.end());
  result.total += opened.total;
  // What a failed probe leaves behind may be of no use, and a new one costs little.
  if (mode != DataPathMode::kAlways || !result.ok() || !path->Drain()) {
    path.reset();
  }
  GiveBack(about, std::move(path), "");
  return result;
}

void DeviceProber::State::GiveBack(const Target& about, std::unique_ptr<DataPath> path,
                                   std::string why_none) {
  // Declared after `path`: what cannot be kept is closed without the mutex.
  const std::lock_guard lock(mutex);
  if (!open || target.opening != about.opening) {
    return;
  }
  note = std::move(why_none);
  if (path != nullptr && kept == nullptr) {
    kept = std::move(path);
  } else if (kept == nullptr) {
    next_build = {};  // with the next tick
  }
}

ProbeOutcome DeviceProber::Probe(uint32_t port, Duration patience) {
  using Code = ProbeOutcome::Code;
  /// What the caller and the probe's thread share. Under the state's mutex.
  struct Call {
    std::optional<ProbeResult> result;
    bool left = false;  // nobody waits any more
  };
  const auto deadline = std::chrono::steady_clock::now() + patience;
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto refusal = state.mode == DataPathMode::kNever ? Code::kNever
                       : state.stopping                   ? Code::kStopping
                       : !state.open                      ? Code::kNotOpen
                       : port == 0 || port > state.ports  ? Code::kUnknownPort
                       : state.probing                    ? Code::kBusy
                                                          : Code::kDone;
  if (refusal != Code::kDone) {
    return {refusal, {}};
  }
  const auto call = std::make_shared<Call>();
  try {
    std::thread([shared = state_, about = state.target, port, call] {
      ProbeResult result = shared->Run(about, port);
      const std::lock_guard done(shared->mutex);
      if (call->left) {
        log::Info("the probe that hung has ended", {{"device", about.device},
                                                    {"port", std::to_string(port)},
                                                    {"result", result.ok() ? "ok" : result.error}});
      }
      call->result = std::move(result);
      shared->probing = false;
      shared->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return {Code::kNoThread, {}};
  }
  state.probing = true;
  state.changed.wait_until(lock, deadline, [&] { return call->result || state.stopping; });
  if (call->result) {
    return {Code::kDone, std::move(*call->result)};
  }
  call->left = true;
  return {state.stopping ? Code::kStopping : Code::kTimedOut, {}};
}

}  // namespace nicmon
