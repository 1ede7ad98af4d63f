#include <utility>

#include "holds_binding.h"
#include "holds_text.h"
#include "nicmon/monitor/holds.h"

// What operators decide, each on disk before it is in force.
namespace nicmon {
namespace {

/// As the file has it, so that a restart changes nothing.
WallTime ToMilliseconds(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time);
}

/// The number of a device's entry, for an effect.
uint64_t KeptNumber(HoldsSnapshot& state, DeviceId device, const std::string& name = {}) {
  (void)KeptOf(state, device, name);
  return state.bound.at(device);
}

/// Those of the devices that are in force.
void NoteReleases(const HoldsSnapshot& state, const std::vector<DeviceId>& devices, WallTime now,
                  Releases* releases) {
  for (const DeviceId device : devices) {
    const Release* release = state.FindRelease(device, now);
    if (release != nullptr && releases != nullptr) {
      releases->emplace(device, *release);
    }
  }
}

}  // namespace

Holds::Result Holds::Pause(PortKey port, const std::string& device, const std::string& reason,
                           const std::string& by, std::optional<WallTime> until, bool replace,
                           Hold* existing, std::string* why, std::optional<Hold>* replaced) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    const WallTime now = clock_.wall();
    const Hold* held = state.FindHold(port, now);
    if (held != nullptr && !replace) {
      *existing = *held;
      return Result::kConflict;
    }
    if (replaced != nullptr) {
      *replaced = held == nullptr ? std::nullopt : std::optional(*held);
    }
    const uint64_t pauses = held == nullptr ? 1 : 0;
    Hold hold{HoldId(home_.id_series, state.next_hold),
              port,
              device,
              reason,
              by,
              ToMilliseconds(now),
              until,
              {}};
    if (hold.until) {
      hold.until = ToMilliseconds(*hold.until);
    }
    *existing = hold;
    *effect = [=, number = KeptNumber(state, port.first, device)](HoldsSnapshot& s) {
      KeptDevice& kept = s.kept.at(number);
      kept.ports[port.second].hold = hold;
      kept.ports[port.second].hold->port.first = kept.device;
      s.pauses[port] += pauses;
      ++s.next_hold;
    };
    return Result::kDone;
  });
}

Holds::Result Holds::Resume(PortKey port, const std::string& hold_id, Hold* lifted,
                            std::string* why) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    const Hold* held = state.FindHold(port, clock_.wall());
    if (held == nullptr) {
      return Result::kNotFound;
    }
    *lifted = *held;
    if (!hold_id.empty() && held->id != hold_id) {
      return Result::kConflict;
    }
    *effect = [port = port.second, kept = state.bound.at(port.first)](HoldsSnapshot& s) {
      s.kept.at(kept).ports[port].hold.reset();
    };
    return Result::kDone;
  });
}

Holds::Result Holds::Delete(const std::string& hold_id, Hold* dropped, std::string* why) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    for (auto& [number, kept] : state.kept) {
      for (auto& [port_number, port] : kept.ports) {
        if (port.hold && port.hold->id == hold_id) {
          *dropped = *port.hold;
          *effect = [number = number, port_number = port_number](HoldsSnapshot& s) {
            s.kept.at(number).ports[port_number].hold.reset();
          };
          return Result::kDone;
        }
      }
    }
    return Result::kNotFound;
  });
}

Holds::Result Holds::SetRelease(const std::vector<DeviceId>& devices, Release release,
                                std::string* why, Releases* replaced) {
  release.since = ToMilliseconds(release.since);
  release.until = ToMilliseconds(release.until);
  release.boot_id = home_.boot_id;
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    std::vector<uint64_t> entries;
    for (const DeviceId device : devices) {
      entries.push_back(KeptNumber(state, device));
    }
    NoteReleases(state, devices, clock_.wall(), replaced);
    *effect = [entries, release](HoldsSnapshot& s) {
      for (const uint64_t kept : entries) {
        s.kept.at(kept).release = release;
      }
    };
    return Result::kDone;
  });
}

Holds::Result Holds::ClearRelease(const std::vector<DeviceId>& devices, std::string* why,
                                  Releases* ended) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    std::vector<uint64_t> entries;
    for (const DeviceId device : devices) {
      const KeptDevice* kept = state.Find(device);
      if (kept != nullptr && kept->release) {
        entries.push_back(state.bound.at(device));
      }
    }
    if (entries.empty()) {
      return Result::kNotFound;
    }
    NoteReleases(state, devices, clock_.wall(), ended);
    *effect = [entries](HoldsSnapshot& s) {
      for (const uint64_t kept : entries) {
        s.kept.at(kept).release.reset();
      }
    };
    return Result::kDone;
  });
}

Holds::Result Holds::SetBaseline(PortKey port, uint64_t bps, std::string* why) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    *effect = [=, kept = KeptNumber(state, port.first)](HoldsSnapshot& s) {
      s.kept.at(kept).ports[port.second].record.baseline_bps = bps;
    };
    return Result::kDone;
  });
}

Holds::Result Holds::Forget(PortKey port, std::string* why) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    if (state.FindRecord(port) == nullptr) {
      return Result::kNotFound;
    }
    *effect = [port = port.second, kept = state.bound.at(port.first)](HoldsSnapshot& s) {
      s.kept.at(kept).ports[port].record = {};
    };
    return Result::kDone;
  });
}

Holds::Result Holds::ForgetAbsent(const std::string& device, uint32_t port, std::string* why) {
  return Durably(why, [&](HoldsSnapshot& state, Effect* effect) {
    std::vector<uint64_t> entries;
    for (const auto& [number, kept] : state.kept) {
      const bool named =
          kept.name == device || kept.key.node_guid == device || kept.key.pci_address == device;
      const auto it = kept.ports.find(port);
      if (kept.device == 0 && named && it != kept.ports.end() &&
          it->second.record != PortRecord()) {
        entries.push_back(number);
      }
    }
    if (device.empty() || entries.empty()) {
      return Result::kNotFound;
    }
    *effect = [entries, port](HoldsSnapshot& s) {
      for (const uint64_t kept : entries) {
        s.kept.at(kept).ports[port].record = {};
      }
    };
    return Result::kDone;
  });
}

}  // namespace nicmon
