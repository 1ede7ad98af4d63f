#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sysfs/stats_fixture.h"

// Which files are read, and what they are called.
namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StatsLayoutTest : public StatsFixture {};

TEST_F(StatsLayoutTest, LayoutFindsTheFileOfEachMetric) {
  Counter("counters/symbol_error", "5\n");
  OpenAndFinish();
  const StatsLayout& layout = sample()->layout();
  ASSERT_EQ(layout.of_metric.size(), CounterMetricCount());
  for (size_t row = 0; row < CounterTable().size(); ++row) {
    const int file = layout.of_metric[CounterMetricOfRow()[row]];
    EXPECT_EQ(file, CounterTable()[row].file == "symbol_error" ? 0 : -1);
  }
}

TEST_F(StatsLayoutTest, TheWiderSourceIsPreferredAndNeverBothAreRead) {
  Counter("counters_ext/port_rcv_data_64", "5000000000\n");
  Counter("counters/port_rcv_data", "4294967295\n");
  Counter("hw_counters/rx_bytes", "1\n");
  OpenAndFinish();
  EXPECT_EQ(Value("counters_ext/port_rcv_data_64"), 5'000'000'000U);
  EXPECT_EQ(Value("counters/port_rcv_data"), std::nullopt);
  EXPECT_THAT(DriverStats(), IsEmpty()) << "not as a stat of the driver's own either";
  EXPECT_EQ(sample()->saturated, 0U);
  EXPECT_TRUE(sample()->layout().counters);
  EXPECT_EQ(reads_.size(), 1U);
}

TEST_F(StatsLayoutTest, DriverStatsAreCutAtTheCapAndTheCutIsCounted) {
  for (int i = 0; i < 300; ++i) {
    Counter("hw_counters/SDma" + std::to_string(1000 + i) + ",Int", std::to_string(i) + "\n");
  }
  Counter("hw_counters/SwLinkUp,32", "3\n");
  Counter("hw_counters/out_of_buffer", "4\n");
  OpenAndFinish();
  EXPECT_EQ(DriverStats().size(), kMaxDriverStats);
  EXPECT_EQ(DriverStats().front(), "SDma1000,Int");
  EXPECT_EQ(sample()->layout().cut, 301 - kMaxDriverStats);
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), 4U) << "what has a metric is not under the cap";
  EXPECT_EQ(reads_.size(), kMaxDriverStats + 1);
}

TEST_F(StatsLayoutTest, NamesBecomeDistinctValidText) {
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
  EXPECT_EQ(sample()->layout().cut, 0U);
}

TEST_F(StatsLayoutTest, ADeviceMayHaveCountersOfItsOwn) {
  tree_.File(std::string(kDevice) + "hw_counters/submitted_cmds", "11\n");
  tree_.File(std::string(kDevice) + "hw_counters/lifespan", "10\n");
  Counter("hw_counters/tx_bytes", "12\n");
  OpenAndFinish();
  ASSERT_NE(sample(0), std::nullopt);
  EXPECT_EQ(Value("hw_counters/submitted_cmds", 0), 11U);
  EXPECT_THAT(DriverStats(0), ElementsAre("submitted_cmds"));
  EXPECT_EQ(Value("hw_counters/tx_bytes"), 12U);
  EXPECT_TRUE(sampler_->any());
}

TEST_F(StatsLayoutTest, PortsWithoutCountersHaveEmptySamples) {
  tree_.File("class/infiniband/rdma0/ports/2/hw_counters/x", "1\n");
  OpenAndFinish({1, 2});
  EXPECT_EQ(sample(0), std::nullopt) << "the device has none of its own";
  ASSERT_NE(sample(1), std::nullopt);
  EXPECT_THAT(sample(1)->layout().files, IsEmpty());
  EXPECT_FALSE(sample(1)->layout().counters);
  EXPECT_FALSE(sample(1)->layout().hw_counters);
  EXPECT_EQ(Value("hw_counters/x", 2), 1U);
  EXPECT_EQ(sample(3), std::nullopt);
  EXPECT_TRUE(sampler_->any());
  OpenAndFinish({1});
  EXPECT_FALSE(sampler_->any());
  OpenAndFinish({});
  EXPECT_FALSE(sampler_->any());
}

TEST_F(StatsLayoutTest, ANameThatIsNoPathComponentReadsNothing) {
  tree_.File("class/infiniband/ports/1/hw_counters/x", "1\n");
  StatsSamplerOptions options;
  options.device = "..";
  options.ports = {1};
  sampler_ = std::make_unique<StatsSampler>(sysfs_, clock_.clock(), options, history_, limit_);
  Finish();
  EXPECT_EQ(sample(), std::nullopt);
}

}  // namespace
}  // namespace nicmon
