#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/base/rate_limit.h"
#include "nicmon/sysfs/files.h"
#include "nicmon/sysfs/stats.h"

namespace nicmon {

/// What is remembered of a device's counters while it is closed, so that a reset during that time
/// is seen and counts go on. Used by the device's thread.
struct StatsHistory {
  /// A port, or the device itself.
  struct Unit {
    std::map<std::string, std::optional<uint64_t>> last;  // by StatsLayout::File::path
    uint64_t resets = 0;  // values of CounterTable()'s files that went down
  };
  std::map<uint32_t, Unit> units;  // by port number; 0 is the device itself
  uint64_t read_errors = 0;
  bool told_of_none = false;  // the log knows that no port has any counters
};

struct StatsSamplerOptions {
  std::string device;  // its name, which is its path too
  std::vector<uint32_t> ports;
  Duration tick = std::chrono::seconds(1);
  Duration interval = std::chrono::seconds(15);  // of everything but traffic
  double phase = 0;  // in [0, 1): where in the interval later rounds are, the first is at once
};

/// Reads the hardware counters of one open device, one file at a time, so that its thread can look
/// after events between any two. Whatever a file is or answers concerns that file only.
///
/// Which files there are is found out by the constructor. Traffic (CounterTraits::traffic) is read
/// once per tick, the rest once per interval. A file that cannot be read or holds no number is an
/// error: it counts, is told to the log once, and is tried less and less often (down to once in ten
/// minutes). One that is not there, or says "N/A", has no value and that is all.
///
/// Used by the device's thread.
class StatsSampler {
 public:
  /// `history` and `log_limit` must outlive the sampler.
  StatsSampler(const SysfsFiles& sysfs, Clock clock, StatsSamplerOptions options,
               StatsHistory& history, RateLimit& log_limit);

  /// Adds something else that is read in each slow round, after the counters: a call reads at most
  /// one file, and it is called until it returns false, which says that nothing is left.
  void AddStep(std::function<bool()> step) { steps_.push_back(std::move(step)); }

  /// A tick: traffic is due.
  void OnTick();

  /// Whether some of it has not been read yet.
  bool traffic_due() const { return fast_.running; }

  /// When the next step is to be done; long past while a round is under way.
  SteadyTime due() const;

  /// Reads at most one file. True at the end of a round: there are new samples.
  bool Step(SteadyTime now);

  /// Of a port (0: the device itself); nullopt for an unknown one, for a device without counters of
  /// its own, and until the first slow round is complete.
  std::optional<StatsSample> sample(uint32_t port) const;

  /// Whether any port has any counters.
  bool any() const;

 private:
  /// A file and how it has fared.
  struct Source {
    std::function<FileRead()> read;
    size_t unit = 0;                  // index into units_
    size_t index = 0;                 // into the unit's values
    std::optional<uint64_t>* last;    // in the history
    const CounterRow* row = nullptr;  // of CounterTable()
    std::optional<uint64_t> cap;      // at which its field sticks
    SteadyTime not_before{};          // while it fails
    uint32_t failures = 0;            // in a row
    Traffic traffic = Traffic::kNone;
    std::optional<uint64_t> previous;  // value before this one; traffic only
    SteadyTime previous_at{};
    std::string path;  // for the log
  };
  struct Unit {
    uint32_t port = 0;
    uint64_t* resets = nullptr;  // in the history
    std::shared_ptr<const StatsLayout> layout;
    std::vector<std::optional<uint64_t>> values;  // of the round under way
    StatsSample sample;                           // without a round until the first is complete
  };
  struct Round {
    std::vector<size_t> sources;  // indexes into sources_
    size_t next = 0;
    bool running = false;
  };

  void AddUnit(const SysfsFiles& sysfs, uint32_t port);
  void StartSlow(SteadyTime now);
  bool Advance(Round& round, SteadyTime now);
  void ReadSource(Source& source, SteadyTime now);
  void SetValue(Source& source, std::optional<uint64_t> value);
  std::optional<double> Measure(Source& source, std::optional<uint64_t> value, bool reset);
  void Fail(Source& source, const std::string& why, SteadyTime now);
  void EndRound();

  const Clock clock_;
  const StatsSamplerOptions options_;
  StatsHistory& history_;
  RateLimit& log_limit_;
  std::vector<Unit> units_;
  std::vector<Source> sources_;
  std::vector<std::function<bool()>> steps_;
  Round fast_, slow_;
  SteadyTime next_slow_;
  std::optional<SteadyTime> sampled_;  // end of the last slow round
};

}  // namespace nicmon
