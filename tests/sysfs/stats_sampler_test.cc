#include "nicmon/sysfs/stats_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "testing/fake_clock.h"
#include "testing/temp_tree.h"

// What a device's counter files may be and say, in a directory tree.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TempTree;

constexpr char kDevice[] = "class/infiniband/rdma0/";
constexpr char kPort[] = "class/infiniband/rdma0/ports/1/";

class StatsSamplerTest : public ::testing::Test {
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
    clock_.Advance(seconds(15));
    sampler_->OnTick();
    Finish();
  }
  void Tick(Duration by = seconds(1)) {
    clock_.Advance(by);
    sampler_->OnTick();
    Finish();
  }
  void OpenAndFinish(std::vector<uint32_t> ports = {1}) {
    Open(std::move(ports));
    Finish();
  }

  std::shared_ptr<const StatsSample> sample(uint32_t port = 1) const {
    return sampler_->sample(port);
  }
  /// By the file's path below the port, "counters/symbol_error"; nullopt also when it is not read.
  std::optional<uint64_t> Value(const std::string& path, uint32_t port = 1) const {
    const auto stats = sample(port);
    for (size_t i = 0; i < stats->values.size(); ++i) {
      if (stats->layout->files[i].path == path) {
        return stats->values[i];
      }
    }
    return std::nullopt;
  }
  /// Labels of what the driver has of its own.
  std::vector<std::string> DriverStats(uint32_t port = 1) const {
    std::vector<std::string> stats;
    for (const auto& file : sample(port)->layout->files) {
      if (file.row == nullptr) {
        stats.push_back(file.stat);
      }
    }
    return stats;
  }
  uint64_t resets(uint32_t port = 1) const { return history_.units.at(port).resets; }

  TempTree tree_;
  SysfsFiles sysfs_ = RealSysfs(tree_.root());
  FakeClock clock_;
  StatsHistory history_;
  RateLimit limit_;
  std::vector<std::string> reads_;  // file names in the order of reading
  std::unique_ptr<StatsSampler> sampler_;
};

TEST_F(StatsSamplerTest, ReadsWhatIsThereOneFileAStep) {
  Counter("counters/symbol_error", "5\n");
  Counter("hw_counters/out_of_buffer", "7");
  Counter("hw_counters/lifespan", "12\n");
  Counter("hw_counters/of_its_own", "9\n");
  Open();
  EXPECT_EQ(sample(), nullptr) << "nothing is published before the round is complete";
  EXPECT_FALSE(sampler_->Step(clock_.steady()));
  EXPECT_FALSE(sampler_->Step(clock_.steady()));
  EXPECT_EQ(reads_.size(), 2U);
  EXPECT_TRUE(sampler_->Step(clock_.steady()));
  EXPECT_EQ(Value("counters/symbol_error"), 5U);
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 7U);
  EXPECT_THAT(DriverStats(), ElementsAre("of_its_own")) << "lifespan is a setting";
  EXPECT_TRUE(sample()->layout->counters);
  EXPECT_TRUE(sample()->layout->hw_counters);
  EXPECT_EQ(sample()->sampled, clock_.steady());
  EXPECT_EQ(history_.read_errors, 0U);
}

TEST_F(StatsSamplerTest, LayoutFindsTheFileOfEachMetric) {
  Counter("counters/symbol_error", "5\n");
  OpenAndFinish();
  const StatsLayout& layout = *sample()->layout;
  ASSERT_EQ(layout.of_metric.size(), CounterMetricCount());
  for (size_t row = 0; row < CounterTable().size(); ++row) {
    const int file = layout.of_metric[CounterMetricOfRow()[row]];
    EXPECT_EQ(file, CounterTable()[row].file == "symbol_error" ? 0 : -1);
  }
}

TEST_F(StatsSamplerTest, TrafficIsReadWithTheTickTheRestOncePerInterval) {
  Counter("counters/port_rcv_data", "0\n");
  Counter("counters/port_xmit_data", "0\n");
  Counter("counters/symbol_error", "0\n");
  OpenAndFinish();
  EXPECT_THAT(reads_, ElementsAre("port_rcv_data", "port_xmit_data", "symbol_error"));
  reads_.clear();
  for (int i = 0; i < 14; ++i) {
    Tick();
  }
  EXPECT_EQ(reads_.size(), 28U);
  EXPECT_THAT(reads_, Not(::testing::Contains("symbol_error")));
  Tick();
  EXPECT_EQ(reads_.back(), "symbol_error");
  EXPECT_EQ(reads_.size(), 31U);
}

TEST_F(StatsSamplerTest, ATickInTheMiddleOfALongRoundGoesFirst) {
  Counter("counters/port_rcv_data", "0\n");
  Counter("counters/link_downed", "0\n");
  Counter("counters/symbol_error", "0\n");
  OpenAndFinish();
  clock_.Advance(seconds(15));
  reads_.clear();
  sampler_->Step(clock_.steady());
  sampler_->OnTick();
  EXPECT_TRUE(sampler_->Step(clock_.steady()));
  Finish();
  EXPECT_THAT(reads_, ElementsAre("link_downed", "port_rcv_data", "symbol_error"));
}

TEST_F(StatsSamplerTest, TheFirstRoundIsAtOnceAndLaterOnesArePhased) {
  Counter("counters/symbol_error", "0\n");
  StatsSamplerOptions options;
  options.device = "rdma0";
  options.ports = {1};
  options.phase = 0.75;
  sampler_ = std::make_unique<StatsSampler>(sysfs_, clock_.clock(), options, history_, limit_);
  Finish();
  EXPECT_EQ(sampler_->due(), clock_.steady() + milliseconds(3750));
  clock_.Advance(milliseconds(3750));
  Finish();
  EXPECT_EQ(sampler_->due(), clock_.steady() + seconds(15));
}

TEST_F(StatsSamplerTest, TheWiderSourceIsPreferredAndNeverBothAreRead) {
  Counter("counters_ext/port_rcv_data_64", "5000000000\n");
  Counter("counters/port_rcv_data", "4294967295\n");
  Counter("hw_counters/rx_bytes", "1\n");
  OpenAndFinish();
  EXPECT_EQ(Value("counters_ext/port_rcv_data_64"), 5'000'000'000U);
  EXPECT_EQ(Value("counters/port_rcv_data"), std::nullopt);
  EXPECT_THAT(DriverStats(), IsEmpty()) << "not as a stat of the driver's own either";
  EXPECT_EQ(sample()->saturated, 0U);
  EXPECT_TRUE(sample()->layout->counters);
  EXPECT_EQ(reads_.size(), 1U);
}

// Each way in which a file can be bad, in front of and behind the good ones in any order.
class BadFileTest : public StatsSamplerTest {
 protected:
  void BadFile(const std::string& name, const std::function<void(const std::string& path)>& make) {
    Counter("hw_counters/mmm", "42\n");
    Counter("counters/symbol_error", "1\n");
    for (const std::string prefix : {"aaa_", "zzz_"}) {
      make(std::string(kPort) + "hw_counters/" + prefix + name);
    }
    OpenAndFinish();
    EXPECT_EQ(Value("hw_counters/mmm"), 42U);
    EXPECT_EQ(Value("counters/symbol_error"), 1U);
    EXPECT_EQ(Value("hw_counters/aaa_" + name), std::nullopt);
    EXPECT_EQ(Value("hw_counters/zzz_" + name), std::nullopt);
  }
  void BadText(const std::string& text) {
    BadFile("text", [&](const std::string& path) { tree_.File(path, text); });
  }
};

TEST_F(BadFileTest, Fifo) {
  BadFile("fifo",
          [&](const std::string& path) { ASSERT_EQ(::mkfifo(tree_.Path(path).c_str(), 0600), 0); });
  EXPECT_EQ(history_.read_errors, 2U);
}
TEST_F(BadFileTest, Directory) {
  BadFile("directory", [&](const std::string& path) { tree_.File(path + "/x", "1\n"); });
  EXPECT_EQ(history_.read_errors, 2U);
}
TEST_F(BadFileTest, LinkToNowhereIsAbsent) {
  BadFile("link", [&](const std::string& path) { tree_.Link(path, "nowhere"); });
  EXPECT_EQ(history_.read_errors, 0U);
}
TEST_F(BadFileTest, NotAvailableIsAbsentAndNoError) {
  BadText("N/A (no PMA)\n");
  EXPECT_EQ(history_.read_errors, 0U);
}

class BadTextTest : public BadFileTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(BadTextTest, IsNoNumber) {
  BadText(GetParam());
  EXPECT_EQ(history_.read_errors, 2U);
}

INSTANTIATE_TEST_SUITE_P(All, BadTextTest,
                         ::testing::Values("", "\n", "18446744073709551616\n", "-1\n", "+1\n",
                                           " 1\n", "1 \n", "1\n\n", "1\r\n", "0x10\n", "1e3\n",
                                           "1.0\n", "1 2\n", "1\n2\n", "one\n",
                                           std::string("\xff\x00\x01\xfe", 4),
                                           std::string("1\0", 2), std::string(8192, '1')));

TEST_F(StatsSamplerTest, TheLargestNumberIsANumber) {
  Counter("hw_counters/out_of_buffer", "18446744073709551615\n");
  Counter("hw_counters/zeros", "000000000000000000000000000007\n");
  OpenAndFinish();
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), UINT64_MAX);
  EXPECT_EQ(Value("hw_counters/zeros"), 7U);
  EXPECT_EQ(sample()->saturated, 0U) << "64 bits do not stick";
}

TEST_F(StatsSamplerTest, AFieldAtItsLargestValueIsSaturatedAWiderValueIsNot) {
  Counter("counters/link_downed", "255\n");            // 8 bits
  Counter("counters/symbol_error", "65535\n");         // 16
  Counter("counters/port_xmit_wait", "4294967295\n");  // 32
  Counter("counters/link_error_recovery", "256\n");    // 8, from a driver with more
  Counter("counters/port_rcv_errors", "65534\n");      // 16
  Counter("hw_counters/of_its_own", "4294967295\n");   // nobody knows
  OpenAndFinish();
  EXPECT_EQ(sample()->saturated, 3U);
  EXPECT_EQ(Value("counters/link_downed"), 255U);
}

TEST_F(StatsSamplerTest, ALowerValueIsShownAndCountsAReset) {
  Counter("counters/symbol_error", "100\n");
  Counter("hw_counters/active_qps", "100\n");
  OpenAndFinish();
  Counter("counters/symbol_error", "3\n");
  Counter("hw_counters/active_qps", "3\n");
  Round();
  EXPECT_EQ(Value("counters/symbol_error"), 3U);
  EXPECT_EQ(resets(), 1U) << "what a driver has of its own may go down";
  Round();
  EXPECT_EQ(resets(), 1U);
}

TEST_F(StatsSamplerTest, AResetIsSeenAcrossACloseAndAnAbsence) {
  Counter("counters/symbol_error", "100\n");
  OpenAndFinish();
  Counter("counters/symbol_error", "N/A (no PMA)\n");
  OpenAndFinish();
  EXPECT_EQ(Value("counters/symbol_error"), std::nullopt);
  Counter("counters/symbol_error", "99\n");
  OpenAndFinish();
  EXPECT_EQ(resets(), 1U);
  OpenAndFinish();
  EXPECT_EQ(resets(), 1U);
}

TEST_F(StatsSamplerTest, ThroughputIsThatOfTheTimeBetweenTwoReadings) {
  Counter("counters/port_rcv_data", "1000\n");
  Counter("counters/port_xmit_data", "0\n");
  OpenAndFinish();
  EXPECT_EQ(sample()->rx_bytes_per_second, std::nullopt) << "one reading is no rate";
  Counter("counters/port_rcv_data", "2000\n");
  Tick(milliseconds(2500));
  EXPECT_EQ(sample()->rx_bytes_per_second, 1600.0) << "1000 words of 4 bytes in 2.5 s";
  EXPECT_EQ(sample()->tx_bytes_per_second, 0.0);
  EXPECT_EQ(Value("counters/port_rcv_data"), 2000U);
  Counter("counters/port_rcv_data", "10\n");
  Tick();
  EXPECT_EQ(sample()->rx_bytes_per_second, std::nullopt) << "after a reset nobody knows";
  EXPECT_EQ(resets(), 1U);
  Tick();
  EXPECT_EQ(sample()->rx_bytes_per_second, 0.0);
}

TEST_F(StatsSamplerTest, ThroughputIsUnknownWhereTheCounterSticksOrIsMissing) {
  Counter("counters/port_rcv_data", "4294967295\n");
  OpenAndFinish();
  Tick();
  EXPECT_EQ(sample()->rx_bytes_per_second, std::nullopt);
  EXPECT_EQ(sample()->tx_bytes_per_second, std::nullopt);
  EXPECT_EQ(sample()->saturated, 1U);
}

TEST_F(StatsSamplerTest, ThroughputOfAReadingThatTookLong) {
  Counter("hw_counters/rx_bytes", "0\n");
  OpenAndFinish();
  const auto read_slowly = sysfs_.keep;
  sysfs_.keep = [&](const std::string& path) {
    return [this, read = read_slowly(path)] {
      clock_.Advance(seconds(9));
      return read();
    };
  };
  OpenAndFinish();
  Counter("hw_counters/rx_bytes", "1000\n");
  Tick();
  EXPECT_EQ(sample()->rx_bytes_per_second, 100.0) << "from end to end of the readings";
}

TEST_F(StatsSamplerTest, AFailingFileIsTriedLessAndLessOften) {
  Counter("hw_counters/out_of_buffer", "broken\n");
  OpenAndFinish();
  std::vector<int> tries;
  for (int round = 1; round <= 130; ++round) {
    const size_t before = reads_.size();
    Round();
    if (reads_.size() != before) {
      tries.push_back(round);
    }
  }
  // 15 s, 30 s, 60 s … 480 s, then 600 s each.
  EXPECT_THAT(tries, ElementsAre(1, 3, 7, 15, 31, 63, 103));
  EXPECT_EQ(history_.read_errors, 8U);
  Counter("hw_counters/out_of_buffer", "6\n");
  for (int round = 0; round < 40; ++round) {
    Round();
  }
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 6U);
  Counter("hw_counters/out_of_buffer", "7\n");
  Round();
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 7U) << "once it is well it has its turn again";
}

TEST_F(StatsSamplerTest, ARoundOfNothingButResistingFilesEnds) {
  Counter("counters/port_rcv_data", "bad\n");
  Counter("counters/symbol_error", "bad\n");
  OpenAndFinish();
  for (int i = 0; i < 20; ++i) {
    Tick();
  }
  EXPECT_GT(sampler_->due(), clock_.steady());
  EXPECT_EQ(sample()->rx_bytes_per_second, std::nullopt);
}

TEST_F(StatsSamplerTest, ABadFileIsToldOnceWithWhatToLookAt) {
  Counter("hw_counters/aaa", "bad\xff\n");
  ::testing::internal::CaptureStderr();
  OpenAndFinish();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("device=rdma0"), HasSubstr("ports/1/hw_counters/aaa"),
                    HasSubstr("not a number"), HasSubstr("remedy=")));
  ::testing::internal::CaptureStderr();
  for (int round = 0; round < 40; ++round) {
    Round();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_GT(history_.read_errors, 3U);
}

TEST_F(StatsSamplerTest, ErrnoOfAReadIsAnErrorThatHidesNothingElse) {
  Counter("counters/link_downed", "1\n");
  Counter("counters/symbol_error", "2\n");
  const auto keep = sysfs_.keep;
  sysfs_.keep = [keep](const std::string& path) -> std::function<FileRead()> {
    if (path.ends_with("link_downed")) {
      return [] { return FileRead{EIO, ""}; };
    }
    return keep(path);
  };
  ::testing::internal::CaptureStderr();
  OpenAndFinish();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("EIO"));
  EXPECT_EQ(Value("counters/link_downed"), std::nullopt);
  EXPECT_EQ(Value("counters/symbol_error"), 2U);
  EXPECT_EQ(history_.read_errors, 1U);
}

TEST_F(StatsSamplerTest, AFileThatVanishesIsAbsentAndComesBack) {
  Counter("counters/symbol_error", "5\n");
  OpenAndFinish();
  tree_.Remove(std::string(kPort) + "counters");
  Round();
  EXPECT_EQ(Value("counters/symbol_error"), std::nullopt);
  EXPECT_EQ(history_.read_errors, 0U);
  Counter("counters/symbol_error", "8\n");
  Round();
  EXPECT_EQ(Value("counters/symbol_error"), 8U);
}

TEST_F(StatsSamplerTest, DriverStatsAreCutAtTheCapAndTheCutIsCounted) {
  for (int i = 0; i < 300; ++i) {
    Counter("hw_counters/SDma" + std::to_string(1000 + i) + ",Int", std::to_string(i) + "\n");
  }
  Counter("hw_counters/SwLinkUp,32", "3\n");
  Counter("hw_counters/out_of_buffer", "4\n");
  OpenAndFinish();
  EXPECT_EQ(DriverStats().size(), kMaxDriverStats);
  EXPECT_EQ(DriverStats().front(), "SDma1000,Int");
  EXPECT_EQ(sample()->layout->cut, 301 - kMaxDriverStats);
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 4U) << "what has a metric is not under the cap";
  EXPECT_EQ(reads_.size(), kMaxDriverStats + 1);
}

TEST_F(StatsSamplerTest, NamesBecomeDistinctValidText) {
  Counter("hw_counters/SwLinkUp,32", "1\n");
  Counter("hw_counters/bad\xfe", "2\n");
  Counter("hw_counters/bad\xff", "3\n");
  Counter("counters/same", "4\n");
  Counter("hw_counters/same", "5\n");
  Counter("hw_counters/\x1b", "6\n");
  OpenAndFinish();
  EXPECT_THAT(DriverStats(), ElementsAre("same", "SwLinkUp,32", "bad\xef\xbf\xbd"));
  EXPECT_EQ(Value("hw_counters/bad\xfe"), 2U);
  EXPECT_EQ(Value("counters/same"), 4U);
  EXPECT_EQ(sample()->layout->cut, 0U);
}

TEST_F(StatsSamplerTest, ADeviceMayHaveCountersOfItsOwn) {
  tree_.File(std::string(kDevice) + "hw_counters/submitted_cmds", "11\n");
  tree_.File(std::string(kDevice) + "hw_counters/lifespan", "10\n");
  Counter("hw_counters/tx_bytes", "12\n");
  OpenAndFinish();
  ASSERT_NE(sample(0), nullptr);
  EXPECT_EQ(Value("hw_counters/submitted_cmds", 0), 11U);
  EXPECT_THAT(DriverStats(0), ElementsAre("submitted_cmds"));
  EXPECT_EQ(Value("hw_counters/tx_bytes"), 12U);
  EXPECT_TRUE(sampler_->any());
}

TEST_F(StatsSamplerTest, PortsWithoutCountersHaveEmptySamples) {
  tree_.File("class/infiniband/rdma0/ports/2/hw_counters/x", "1\n");
  OpenAndFinish({1, 2});
  EXPECT_EQ(sample(0), nullptr) << "the device has none of its own";
  ASSERT_NE(sample(1), nullptr);
  EXPECT_THAT(sample(1)->values, IsEmpty());
  EXPECT_FALSE(sample(1)->layout->counters);
  EXPECT_FALSE(sample(1)->layout->hw_counters);
  EXPECT_EQ(Value("hw_counters/x", 2), 1U);
  EXPECT_EQ(sample(3), nullptr);
  EXPECT_TRUE(sampler_->any());
  OpenAndFinish({1});
  EXPECT_FALSE(sampler_->any());
  OpenAndFinish({});
  EXPECT_FALSE(sampler_->any());
}

TEST_F(StatsSamplerTest, ANameThatIsNoPathComponentReadsNothing) {
  tree_.File("class/infiniband/ports/1/hw_counters/x", "1\n");
  StatsSamplerOptions options;
  options.device = "..";
  options.ports = {1};
  sampler_ = std::make_unique<StatsSampler>(sysfs_, clock_.clock(), options, history_, limit_);
  Finish();
  EXPECT_EQ(sample(), nullptr);
}

TEST_F(StatsSamplerTest, FurtherStepsAreTakenOneByOneInEachSlowRound) {
  Counter("counters/port_rcv_data", "0\n");
  Counter("counters/symbol_error", "0\n");
  Open();
  sampler_->AddStep([this] { reads_.emplace_back("first"); });
  sampler_->AddStep([this] { reads_.emplace_back("second"); });
  Finish();
  EXPECT_THAT(reads_, ElementsAre("port_rcv_data", "symbol_error", "first", "second"));
  Tick();
  EXPECT_EQ(reads_.size(), 5U);
  clock_.Advance(seconds(14));
  Finish();
  EXPECT_EQ(reads_.size(), 8U);
  EXPECT_EQ(reads_.back(), "second");
}

}  // namespace
}  // namespace nicmon
