#include "nicmon/monitor/holds.h"

#include <algorithm>
#include <utility>

#include "holds_binding.h"
#include "holds_text.h"
#include "nicmon/base/log.h"
#include "nicmon/monitor/holds_file.h"

namespace nicmon {
namespace {

/// After that time nobody will put the old device back.
constexpr Duration kOrphanLife = std::chrono::hours(24 * 30);

std::vector<log::Field> HoldFields(const Hold& hold, const KeptDevice& kept) {
  return {{"id", hold.id},
          {"device", kept.name},
          {"port", std::to_string(hold.port.second)},
          {"node_guid", kept.key.node_guid},
          {"pci_address", kept.key.pci_address},
          {"reason", hold.reason},
          {"by", hold.by},
          {"since", Rfc3339(hold.since)},
          {"until", hold.until ? Rfc3339(*hold.until) : "none"}};
}

void LogHolds(log::Level level, std::string_view message, const KeptDevice& kept) {
  for (const auto& [number, port] : kept.ports) {
    if (port.hold) {
      log::WriteFields(level, message, HoldFields(*port.hold, kept));
    }
  }
}

/// What discovery has changed, for the log.
void LogBindings(const HoldsSnapshot& before, const HoldsSnapshot& after) {
  for (const auto& [number, kept] : after.kept) {
    const auto it = before.kept.find(number);
    const bool was_orphaned = it != before.kept.end() && it->second.orphaned_since.has_value();
    if (kept.orphaned_since && !was_orphaned) {
      LogHolds(log::Level::kWarning, "hold is orphaned: another device is in the place of its own",
               kept);
    } else if (!kept.orphaned_since && was_orphaned) {
      LogHolds(log::Level::kInfo, "the device of an orphaned hold is back", kept);
    }
  }
}

/// What a look at the clock has ended.
struct Ended {
  std::vector<Hold> holds;
  std::vector<EndedRelease> releases;
};

/// Ends the holds and the release whose time is over. Whether there were any.
bool EndWhatHasRunOut(KeptDevice& kept, WallTime now, Ended& ended) {
  bool any = false;
  for (auto& [number, port] : kept.ports) {
    if (port.hold && port.hold->until && now >= *port.hold->until) {
      ended.holds.push_back(*port.hold);
      port.hold.reset();
      any = true;
    }
  }
  if (kept.release && now >= kept.release->until) {
    ended.releases.push_back({kept.name, *kept.release});
    kept.release.reset();
    any = true;
  }
  return any;
}

}  // namespace

Holds::Holds(Clock clock, HoldsHome home)
    : clock_(std::move(clock)),
      home_(std::move(home)),
      published_(std::make_shared<const HoldsSnapshot>()) {
  if (home_.file) {
    Load();
  }
}

Holds::~Holds() = default;

void Holds::Load() {
  const HoldsFile::Content content = home_.file->Read();
  HoldsRead read = ReadHolds(content.text.value_or("{}"), home_.id_series);
  if (!content.problem.empty()) {
    read.problems.push_back(content.problem);
  }
  if (!read.problems.empty()) {
    const std::string copy = home_.file->KeepBroken();
    for (const std::string& problem : read.problems) {
      log::Error("holds are lost: the file of holds cannot be read whole",
                 {{"file", home_.file->path()}, {"problem", problem}, {"kept_as", copy}});
    }
  }
  if (read.problems.empty()) {
    generation_ = 1;  // write it, and learn whether that can be done
  } else {
    written_text_ = HoldsText(read.state);  // the old file stays until there is something new
  }
  for (auto& [number, kept] : read.state.kept) {
    const std::string& boot = kept.release ? kept.release->boot_id : home_.boot_id;
    if (boot != home_.boot_id && !boot.empty() && !home_.boot_id.empty()) {
      ended_releases_.push_back({kept.name, *kept.release, true});
      kept.release.reset();
      ++generation_;
    }
  }
  for (const HoldsSnapshot::Item& item : read.state.InForce(clock_.wall())) {
    log::WriteFields(log::Level::kInfo, "hold is in force again",
                     HoldFields(*item.hold, *item.kept));
  }
  read.state.durable = true;
  read.state.lost = home_.file->BrokenBeside();
  published_.store(std::make_shared<const HoldsSnapshot>(std::move(read.state)));
}

// Changes are rare (an operator, a link that came up for the first time), reads are not: a change
// copies the whole state and publishes the copy.
bool Holds::Modify(const std::function<bool(HoldsSnapshot&)>& change) {
  std::lock_guard lock(mutex_);
  auto next = std::make_shared<HoldsSnapshot>(*published_.load());
  const bool result = change(*next);
  if (!writing_) {
    DropEmpty(*next);  // an effect that is being written may be about one of them
  }
  ++generation_;
  published_.store(std::move(next));
  return result;
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
    PortRecord& record = KeptOf(state, port.first).ports[port.second].record;
    record.required = true;
    // nullopt compares below every value
    record.baseline_bps = std::max(record.baseline_bps, effective_bps);
    return true;
  });
}

void Holds::SeePresent(const std::vector<SeenDevice>& devices) {
  std::shared_ptr<const HoldsSnapshot> before, after;
  Modify([&](HoldsSnapshot& state) {
    before = published_.load();
    BindPresent(state, devices, home_.machine_id, clock_.wall());
    after = std::make_shared<HoldsSnapshot>(state);
    return true;
  });
  LogBindings(*before, *after);
}

void Holds::ForgetDevice(DeviceId device) {
  Modify([&](HoldsSnapshot& state) {
    std::erase_if(state.pauses, [&](const auto& entry) { return entry.first.first == device; });
    if (state.Find(device) == nullptr) {
      return false;
    }
    KeptDevice& kept = state.kept.at(state.bound.at(device));
    kept.release.reset();
    for (auto& [number, port] : kept.ports) {
      port.record = {};
    }
    Unbind(state, device);
    return true;
  });
}

std::vector<Hold> Holds::Expire() {
  const WallTime now = clock_.wall();
  Ended ended;
  std::vector<KeptDevice> given_up;
  const auto sweep = [&](HoldsSnapshot& state, bool give_up_too) {
    bool swept = false;
    for (auto it = state.kept.begin(); it != state.kept.end();) {
      KeptDevice& kept = it->second;
      swept |= EndWhatHasRunOut(kept, now, ended);
      if (!give_up_too || !kept.orphaned_since || now - *kept.orphaned_since < kOrphanLife) {
        ++it;
        continue;
      }
      given_up.push_back(kept);
      if (kept.device != 0) {
        state.bound.erase(kept.device);
      }
      it = state.kept.erase(it);
    }
    return swept || !given_up.empty();
  };
  HoldsSnapshot trial = *published_.load();
  if (!sweep(trial, true)) {
    return {};
  }
  ended = {};
  given_up.clear();
  // An effect that is being written may be about an entry: that one goes a second later.
  Modify([&](HoldsSnapshot& state) { return sweep(state, !writing_); });
  for (const KeptDevice& kept : given_up) {
    LogHolds(log::Level::kWarning, "orphaned hold is given up after 30 days", kept);
    for (const auto& [number, port] : kept.ports) {
      if (port.hold) {
        ended.holds.push_back(*port.hold);
      }
    }
  }
  const std::lock_guard lock(mutex_);
  ended_releases_.insert(ended_releases_.end(), ended.releases.begin(), ended.releases.end());
  return ended.holds;
}

std::vector<EndedRelease> Holds::TakeEndedReleases() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_releases_, {});
}

}  // namespace nicmon
