#include "faults.h"

#include <algorithm>

namespace nicmon::sim {
namespace {

constexpr std::array<std::string_view, kVerbCount> kVerbNames = {
    "get_device_list",
    "free_device_list",
    "get_device_index",
    "get_device_name",
    "get_device_guid",
    "open_device",
    "close_device",
    "query_device",
    "query_port",
    "query_port_speed",
    "query_gid",
    "query_gid_table",
    "get_async_event",
    "ack_async_event",
    "alloc_pd",
    "dealloc_pd",
    "create_comp_channel",
    "destroy_comp_channel",
    "create_cq",
    "destroy_cq",
    "reg_mr",
    "dereg_mr",
    "create_qp",
    "destroy_qp",
    "modify_qp",
    "post_send",
    "req_notify_cq",
    "get_cq_event",
    "poll_cq",
    "sysfs_read",
};
static_assert(static_cast<size_t>(Verb::kSysfsRead) + 1 == kVerbCount);

}  // namespace

std::string_view VerbName(Verb verb) {
  return kVerbNames[static_cast<size_t>(verb)];
}

std::optional<Verb> FindVerb(std::string_view name) {
  const auto found = std::find(kVerbNames.begin(), kVerbNames.end(), name);
  if (found == kVerbNames.end()) {
    return std::nullopt;
  }
  return static_cast<Verb>(found - kVerbNames.begin());
}

void Faults::Fail(int device, Verb verb, const Failure& failure) {
  if (failure.times == 0) {
    failures_.erase({device, verb});
  } else {
    failures_[{device, verb}] = failure;
  }
  UpdateArmed();
}

void Faults::Hang(int device, Verb verb, SteadyTime until) {
  hangs_[{device, verb}] = until;
  UpdateArmed();
  changed_.notify_all();
}

void Faults::EndHangs() {
  ended_ = true;
  changed_.notify_all();
}

int Faults::Enter(std::unique_lock<std::mutex>& node_lock, int device, Verb verb) {
  if (!Armed()) {
    return 0;  // nearly always: a simulated call costs little beside what it stands for
  }
  SteadyTime now = std::chrono::steady_clock::now();
  if (auto until = HangUntil(device, verb, now)) {
    ++hanging_;
    changed_.notify_all();
    for (; until; until = HangUntil(device, verb, now)) {
      WaitBriefly(changed_, node_lock, *until - now);
      now = std::chrono::steady_clock::now();
    }
    --hanging_;
  }
  const int error = TakeFailure({device, verb});
  if (error != 0 || device == kEveryDevice) {
    return error;
  }
  return TakeFailure({kEveryDevice, verb});
}

std::optional<SteadyTime> Faults::HangUntil(int device, Verb verb, SteadyTime now) {
  if (ended_) {
    return std::nullopt;
  }
  std::optional<SteadyTime> latest;
  for (const Key& key : {Key(device, verb), Key(kEveryDevice, verb)}) {
    const auto hang = hangs_.find(key);
    if (hang == hangs_.end()) {
      continue;
    }
    if (hang->second <= now) {
      hangs_.erase(hang);
      UpdateArmed();
    } else if (!latest || hang->second > *latest) {
      latest = hang->second;
    }
  }
  return latest;
}

int Faults::TakeFailure(const Key& key) {
  const auto found = failures_.find(key);
  if (found == failures_.end()) {
    return 0;
  }
  Failure& failure = found->second;
  if (failure.skip > 0) {
    --failure.skip;
    return 0;
  }
  const int error = failure.error;
  if (--failure.times == 0) {
    failures_.erase(found);
    UpdateArmed();
  }
  return error;
}

void Faults::UpdateArmed() {
  armed_.store(!failures_.empty() || !hangs_.empty(), std::memory_order_relaxed);
}

void WaitBriefly(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 Duration at_most) {
  const Duration slice = std::min<Duration>(at_most, std::chrono::seconds(1));
  condition.wait_until(lock, std::chrono::system_clock::now() +
                                 std::chrono::ceil<std::chrono::system_clock::duration>(slice));
}

}  // namespace nicmon::sim
