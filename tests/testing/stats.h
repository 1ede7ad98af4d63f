#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/monitor/snapshot.h"

namespace nicmon::test {

/// Samples of a port as a test wants them, without files. The values of many are 1, 2, 3 …
class StatsSpec {
 public:
  StatsSpec() {
    layout_.of_metric.assign(CounterMetricCount(), -1);
    layout_.counters = layout_.hw_counters = true;
  }

  /// Every metric from its best source, but for `without`.
  static StatsSpec All(std::string_view without = "") {
    StatsSpec spec;
    std::string_view last;
    for (const CounterRow& row : CounterTable()) {
      if (row.metric != last && row.metric != without) {
        spec.Add(row, spec.Next());
      }
      last = row.metric;
    }
    return spec;
  }

  /// This row's file; it becomes the source of its metric.
  StatsSpec& Add(const CounterRow& row, std::optional<uint64_t> value) {
    const std::string path = std::string(row.directory) + "/" + std::string(row.file);
    const auto index = static_cast<size_t>(&row - CounterTable().data());
    layout_.of_metric.at(CounterMetricOfRow()[index]) = static_cast<int>(layout_.files.size());
    if (row.traits.traffic == Traffic::kReceived) {
      layout_.received = static_cast<int>(layout_.files.size());
      sample_.received = value;
    } else if (row.traits.traffic == Traffic::kTransmitted) {
      layout_.transmitted = static_cast<int>(layout_.files.size());
      sample_.transmitted = value;
    }
    layout_.files.push_back({path, std::string(row.file), &row});
    values_.push_back(value);
    return *this;
  }
  /// The first row of this file name.
  StatsSpec& Add(std::string_view file, std::optional<uint64_t> value) {
    for (const CounterRow& row : CounterTable()) {
      if (row.file == file) {
        return Add(row, value);
      }
    }
    throw std::invalid_argument(std::string(file));
  }

  /// A file of the driver's own.
  StatsSpec& Driver(const std::string& stat, std::optional<uint64_t> value) {
    layout_.files.push_back({"hw_counters/" + stat, stat, nullptr});
    values_.push_back(value);
    return *this;
  }

  /// As many of them as nicmon reads, and some beyond.
  StatsSpec& FullOfDriverStats() {
    for (size_t i = 0; i < kMaxDriverStats; ++i) {
      Driver("stat" + std::to_string(i), Next());
    }
    layout_.cut = 7;
    return *this;
  }

  StatsLayout& layout() { return layout_; }
  StatsSample& sample() { return sample_; }

  StatsSample Build() const {
    StatsSample sample = sample_;
    sample.round = std::make_shared<StatsRound>(
        StatsRound{std::make_shared<StatsLayout>(layout_), values_, {}});
    return sample;
  }

 private:
  uint64_t Next() const { return values_.size() + 1; }

  StatsLayout layout_;
  StatsSample sample_;
  std::vector<std::optional<uint64_t>> values_;
};

}  // namespace nicmon::test
