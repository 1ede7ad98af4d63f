#pragma once

#include "nicmon/sysfs/stats_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "testing/fake_clock.h"
#include "testing/temp_tree.h"

namespace nicmon {

inline constexpr char kDevice[] = "class/infiniband/rdma0/";
inline constexpr char kPort[] = "class/infiniband/rdma0/ports/1/";

/// A device "rdma0" in a directory tree, with its sampler on a clock that stands still.
class StatsFixture : public ::testing::Test {
 protected:
  void Counter(const std::string& file, const std::string& text) { tree_.File(kPort + file, text); }

  /// As at an open of the device.
  void Open(std::vector<uint32_t> ports = {1}) {
    sampler_.reset();
    StatsSamplerOptions options;
    options.device = "rdma0";
    options.ports = std::move(ports);
    SysfsFiles files = sysfs_;
    files.keep = [this](const std::string& path) {
      return [this, path, read = sysfs_.keep(path)] {
        reads_.push_back(path.substr(path.rfind('/') + 1));
        return read();
      };
    };
    sampler_ = std::make_unique<StatsSampler>(files, clock_.clock(), options, history_, limit_);
  }

  /// All steps that are due, each of which reads one file at most.
  void Finish() {
    while (sampler_->due() <= clock_.steady()) {
      const size_t before = reads_.size();
      sampler_->Step(clock_.steady());
      ASSERT_LE(reads_.size(), before + 1);
    }
  }
  /// The next round of everything.
  void Round() {
    clock_.Advance(std::chrono::seconds(15));
    sampler_->OnTick();
    Finish();
  }
  void Tick(Duration by = std::chrono::seconds(1)) {
    clock_.Advance(by);
    sampler_->OnTick();
    Finish();
  }
  void OpenAndFinish(std::vector<uint32_t> ports = {1}) {
    Open(std::move(ports));
    Finish();
  }

  std::optional<StatsSample> sample(uint32_t port = 1) const { return sampler_->sample(port); }
  /// By the file's path below the port, "counters/symbol_error"; nullopt also when it is not read.
  std::optional<uint64_t> Value(const std::string& path, uint32_t port = 1) const {
    const auto stats = sample(port);
    for (size_t i = 0; i < stats->layout().files.size(); ++i) {
      if (stats->layout().files[i].path == path) {
        return stats->value(i);
      }
    }
    return std::nullopt;
  }
  /// Labels of what the driver has of its own.
  std::vector<std::string> DriverStats(uint32_t port = 1) const {
    std::vector<std::string> stats;
    const auto of = sample(port);
    for (const auto& file : of->layout().files) {
      if (file.row == nullptr) {
        stats.push_back(file.stat);
      }
    }
    return stats;
  }
  uint64_t resets(uint32_t port = 1) const { return history_.units.at(port).resets; }

  testing::TempTree tree_;
  SysfsFiles sysfs_ = RealSysfs(tree_.root());
  testing::FakeClock clock_;
  StatsHistory history_;
  RateLimit limit_;
  std::vector<std::string> reads_;  // file names in the order of reading
  std::unique_ptr<StatsSampler> sampler_;
};

}  // namespace nicmon
