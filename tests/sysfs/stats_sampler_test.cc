#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sysfs/stats_fixture.h"

// When files are read, and what follows from two readings.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class StatsSamplerTest : public StatsFixture {};

TEST_F(StatsSamplerTest, ReadsWhatIsThereOneFileAStep) {
  Counter("counters/symbol_error", "5\n");
  Counter("hw_counters/out_of_buffer", "7");
  Counter("hw_counters/lifespan", "12\n");
  Counter("hw_counters/of_its_own", "9\n");
  Open();
  EXPECT_EQ(sample(), std::nullopt) << "nothing is published before the round is complete";
  EXPECT_FALSE(sampler_->Step(clock_.steady()));
  EXPECT_FALSE(sampler_->Step(clock_.steady()));
  EXPECT_EQ(reads_.size(), 2U);
  EXPECT_TRUE(sampler_->Step(clock_.steady()));
  EXPECT_EQ(Value("counters/symbol_error"), 5U);
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 7U);
  EXPECT_THAT(DriverStats(), ElementsAre("of_its_own")) << "lifespan is a setting";
  EXPECT_TRUE(sample()->layout().counters);
  EXPECT_TRUE(sample()->layout().hw_counters);
  EXPECT_EQ(sample()->round->sampled, clock_.steady());
  EXPECT_EQ(history_.read_errors, 0U);
}

TEST_F(StatsSamplerTest, TrafficIsReadWithTheTickTheRestOncePerInterval) {
  Counter("counters/port_rcv_data", "0\n");
  Counter("counters/port_xmit_data", "0\n");
  Counter("counters/symbol_error", "0\n");
  OpenAndFinish();
  EXPECT_THAT(reads_, ElementsAre("port_rcv_data", "port_xmit_data", "symbol_error"));
  reads_.clear();
  const auto round = sample()->round;
  for (int i = 0; i < 14; ++i) {
    Tick();
  }
  EXPECT_EQ(reads_.size(), 28U);
  EXPECT_EQ(sample()->round, round) << "what a tick does not read it does not copy either";
  EXPECT_THAT(reads_, Not(::testing::Contains("symbol_error")));
  Tick();
  EXPECT_EQ(reads_.back(), "symbol_error");
  EXPECT_EQ(reads_.size(), 31U);
}

TEST_F(StatsSamplerTest, TrafficAloneIsNoSample) {
  Counter("counters/port_rcv_data", "0\n");
  Counter("counters/symbol_error", "0\n");
  Open();
  EXPECT_FALSE(sampler_->Step(clock_.steady()));
  EXPECT_THAT(reads_, ElementsAre("port_rcv_data"));
  EXPECT_EQ(sample(), std::nullopt) << "all others would look absent";
  EXPECT_TRUE(sampler_->Step(clock_.steady()));
  EXPECT_NE(sample(), std::nullopt);
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
  Counter("hw_counters/out_of_buffer", "broken again\n");
  Round();
  Counter("hw_counters/out_of_buffer", "8\n");
  Round();
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 8U) << "and its errors of long ago are forgotten";
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

TEST_F(StatsSamplerTest, FurtherStepsAreTakenOneByOneInEachSlowRound) {
  Counter("counters/port_rcv_data", "0\n");
  Counter("counters/symbol_error", "0\n");
  Open();
  int files = 0;
  sampler_->AddStep([&] {
    reads_.emplace_back("first " + std::to_string(++files));
    return files % 2 != 0;  // two files a round
  });
  sampler_->AddStep([this] {
    reads_.emplace_back("second");
    return false;
  });
  Finish();
  EXPECT_THAT(reads_, ElementsAre("port_rcv_data", "symbol_error", "first 1", "first 2", "second"));
  Tick();
  EXPECT_EQ(reads_.size(), 6U);
  clock_.Advance(seconds(14));
  Finish();
  EXPECT_EQ(reads_.size(), 10U);
  EXPECT_EQ(reads_.back(), "second");
}

}  // namespace
}  // namespace nicmon
