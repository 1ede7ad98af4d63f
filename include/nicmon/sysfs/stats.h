#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/sysfs/counter_table.h"

namespace nicmon {

/// What counters one port (or the device itself) turned out to have when it was opened. No list of
/// names decides what is read; names only decide which metric a file becomes.
struct StatsLayout {
  struct File {
    std::string path;                 // relative to the port's (or device's) directory
    std::string stat;                 // the file's name as valid UTF-8: label of driver_stat
    const CounterRow* row = nullptr;  // nullptr: something a driver has of its own
  };
  std::vector<File> files;
  std::vector<int> of_metric;  // by metric of CounterTable(): index into files, -1 = has none
  int received = -1;           // index into files of the bytes received, -1 = has none
  int transmitted = -1;        // likewise
  uint32_t cut = 0;            // driver's own files beyond kMaxDriverStats, not read
  bool counters = false;       // counters/ (or counters_ext/) exists
  bool hw_counters = false;    // hw_counters/ exists
};

/// Files of a driver's own that are read per port, and per device.
inline constexpr size_t kMaxDriverStats = 64;

/// A complete round of everything (--counters-interval), immutable once published. Values are as
/// the file has them: scale them by the row. nullopt: absent ("N/A (no PMA)"), unreadable or not a
/// number.
struct StatsRound {
  std::shared_ptr<const StatsLayout> layout;    // never nullptr
  std::vector<std::optional<uint64_t>> values;  // by layout->files; traffic is in StatsSample
  SteadyTime sampled{};                         // its end
};

/// What is known of a port's (or device's) counters: the last round, and traffic since. All that a
/// tick changes is here by value, so that a tick copies no more than that.
struct StatsSample {
  std::shared_ptr<const StatsRound> round;                         // never nullptr once published
  std::optional<uint64_t> received, transmitted;                   // as StatsRound::values
  std::optional<double> rx_bytes_per_second, tx_bytes_per_second;  // over the last tick
  uint32_t saturated = 0;  // values that stick at their field's largest value
  uint64_t resets = 0;     // values of CounterTable()'s files found lower, since the port is known

  const StatsLayout& layout() const { return *round->layout; }
  std::optional<uint64_t> value(size_t file) const {
    const int index = static_cast<int>(file);
    return index == layout().received      ? received
           : index == layout().transmitted ? transmitted
                                           : round->values[file];
  }
};

}  // namespace nicmon
