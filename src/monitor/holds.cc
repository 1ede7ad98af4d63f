#include "nicmon/monitor/holds.h"

namespace nicmon {
namespace {

template <typename T>
bool Running(const T& item, WallTime now) {
  if constexpr (requires { item.until.has_value(); }) {
    return !item.until || now < *item.until;
  } else {
    return now < item.until;
  }
}

}  // namespace

const Hold* HoldsSnapshot::FindHold(PortKey port, WallTime now) const {
  const auto it = holds.find(port);
  return it != holds.end() && Running(it->second, now) ? &it->second : nullptr;
}

const Release* HoldsSnapshot::FindRelease(DeviceId device, WallTime now) const {
  const auto it = releases.find(device);
  return it != releases.end() && Running(it->second, now) ? &it->second : nullptr;
}

const PortRecord* HoldsSnapshot::FindRecord(PortKey port) const {
  const auto it = records.find(port);
  return it != records.end() ? &it->second : nullptr;
}

Holds::Holds(Clock clock)
    : clock_(std::move(clock)), published_(std::make_shared<const HoldsSnapshot>()) {}

// Changes are rare (an operator, a link that came up for the first time), reads are not: a change
// copies the whole state and publishes the copy..
template <typename Change>
auto Holds::Modify(Change change) {
  std::lock_guard lock(mutex_);
  auto next = std::make_shared<HoldsSnapshot>(*published_.load());
  const auto result = change(*next);
  published_.store(std::move(next));
  return result;
}

Holds::Result Holds::Pause(PortKey port, const std::string& device, const std::string& reason,
                           const std::string& by, std::optional<WallTime> until, bool replace,
                           Hold* existing) {
  return Modify([&](HoldsSnapshot& state) {
    const WallTime now = clock_.wall();
    const Hold* held = state.FindHold(port, now);
    if (held != nullptr && !replace) {
      *existing = *held;
      return Result::kConflict;
    }
    if (held == nullptr) {
      ++state.pauses[port];
    }
    *existing = Hold{"h" + std::to_string(next_id_++), port, device, reason, by, now, until};
    state.holds[port] = *existing;
    return Result::kDone;
  });
}

Holds::Result Holds::Resume(PortKey port, const std::string& hold_id, Hold* lifted) {
  return Modify([&](HoldsSnapshot& state) {
    const Hold* held = state.FindHold(port, clock_.wall());
    if (held == nullptr) {
      return Result::kNotFound;
    }
    *lifted = *held;
    if (!hold_id.empty() && held->id != hold_id) {
      return Result::kConflict;
    }
    state.holds.erase(port);
    return Result::kDone;
  });
}

Holds::Result Holds::Delete(const std::string& hold_id, Hold* dropped) {
  return Modify([&](HoldsSnapshot& state) {
    for (auto it = state.holds.begin(); it != state.holds.end(); ++it) {
      if (it->second.id == hold_id) {
        *dropped = it->second;
        state.holds.erase(it);
        return Result::kDone;
      }
    }
    return Result::kNotFound;
  });
}

void Holds::SetRelease(DeviceId device, Release release) {
  Modify([&](HoldsSnapshot& state) {
    state.releases[device] = std::move(release);
    return true;
  });
}

bool Holds::ClearRelease(DeviceId device) {
  return Modify([&](HoldsSnapshot& state) { return state.releases.erase(device) > 0; });
}

void Holds::NoteActive(PortKey port, std::optional<uint64_t> effective_bps) {
  const auto improves = [&](const PortRecord* record) {
    return record == nullptr || !record->required ||
           (effective_bps && effective_bps > record->baseline_bps);
  };
  if (!improves(published_.load()->FindRecord(port))) {
    return;
  }
  Modify([&](HoldsSnapshot& state) {
    PortRecord& record = state.records[port];
    record.required = true;
    // nullopt compares below every value
    record.baseline_bps = std::max(record.baseline_bps, effective_bps);
    return true;
  });
}

void Holds::SetBaseline(PortKey port, uint64_t bps) {
  Modify([&](HoldsSnapshot& state) {
    state.records[port].baseline_bps = bps;
    return true;
  });
}

bool Holds::Forget(PortKey port) {
  return Modify([&](HoldsSnapshot& state) { return state.records.erase(port) > 0; });
}

void Holds::ForgetDevice(DeviceId device) {
  Modify([&](HoldsSnapshot& state) {
    const auto of_device = [&](const auto& entry) { return entry.first.first == device; };
    std::erase_if(state.records, of_device);
    std::erase_if(state.pauses, of_device);
    state.releases.erase(device);
    return true;
  });
}

std::vector<Hold> Holds::Expire() {
  const WallTime now = clock_.wall();
  const auto any_ended = [&](const HoldsSnapshot& state) {
    for (const auto& [port, hold] : state.holds) {
      if (!Running(hold, now)) {
        return true;
      }
    }
    return false;
  };
  std::vector<Hold> ended;
  if (!any_ended(*published_.load())) {
    return ended;
  }
  Modify([&](HoldsSnapshot& state) {
    std::erase_if(state.holds, [&](const auto& entry) {
      if (Running(entry.second, now)) {
        return false;
      }
      ended.push_back(entry.second);
      return true;
    });
    return true;
  });
  return ended;
}

}  // namespace nicmon
