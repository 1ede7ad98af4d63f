#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "nicmon/base/clock.h"

namespace nicmon::sim {

/// Every call that can be counted, failed and hung; named as in VerbsApi.
enum class Verb : uint8_t {
  kGetDeviceList,
  kFreeDeviceList,
  kGetDeviceIndex,
  kGetDeviceName,
  kGetDeviceGuid,
  kOpenDevice,
  kCloseDevice,
  kQueryDevice,
  kQueryPort,
  kQueryPortSpeed,
  kQueryGid,
  kQueryGidTable,
  kGetAsyncEvent,
  kAckAsyncEvent,
  kAllocPd,
  kDeallocPd,
  kCreateCompChannel,
  kDestroyCompChannel,
  kCreateCq,
  kDestroyCq,
  kRegMr,
  kDeregMr,
  kCreateQp,
  kDestroyQp,
  kModifyQp,
  kPostSend,
  kReqNotifyCq,
  kGetCqEvent,
  kPollCq,
  kSysfsRead,
};
inline constexpr size_t kVerbCount = 30;

std::string_view VerbName(Verb verb);
std::optional<Verb> FindVerb(std::string_view name);

/// Which calls are to fail or hang, and how often each was made. All but Count(), Calls() and
/// Armed() are called with the node's mutex held.
class Faults {
 public:
  static constexpr int kEveryDevice = -1;

  struct Failure {
    int error = 0;
    uint32_t skip = 0;
    uint32_t times = 0;
  };

  void Fail(int device, Verb verb, const Failure& failure);
  void Hang(int device, Verb verb, SteadyTime until);
  void EndHangs();

  /// Blocks while the verb of that device hangs, letting go of the node's mutex meanwhile. Returns
  /// the errno with which the call is to fail, or 0.
  int Enter(std::unique_lock<std::mutex>& node_lock, int device, Verb verb);

  /// False: no failure and no hang is set, Enter() has nothing to do. Lets the event path do
  /// without the node's mutex.
  bool Armed() const { return armed_.load(std::memory_order_relaxed); }

  void Count(Verb verb) {
    calls_[static_cast<size_t>(verb)].fetch_add(1, std::memory_order_release);
  }
  uint64_t Calls(Verb verb) const {
    return calls_[static_cast<size_t>(verb)].load(std::memory_order_acquire);
  }

  int hanging() const { return hanging_; }
  /// Notified when hanging() or the hangs change; the node uses it for its own changes as well.
  std::condition_variable& changed() { return changed_; }

 private:
  using Key = std::pair<int, Verb>;

  std::optional<SteadyTime> HangUntil(int device, Verb verb, SteadyTime now);
  int TakeFailure(const Key& key);
  void UpdateArmed();

  std::map<Key, Failure> failures_;
  std::map<Key, SteadyTime> hangs_;
  std::condition_variable changed_;
  bool ended_ = false;
  int hanging_ = 0;
  std::atomic<bool> armed_{false};
  std::array<std::atomic<uint64_t>, kVerbCount> calls_{};
};

/// Waits on a condition variable without the steady clock, whose wait g++ 12's thread sanitizer
/// does not know; returns at the latest after a second, so that a jump of the wall clock is
/// harmless.
void WaitBriefly(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 Duration at_most);

}  // namespace nicmon::sim
