#include "nicmon/verbs/drain.h"

#include <vector>

#include "sim/sim_testing.h"

namespace nicmon {
namespace {

class DrainTest : public SimTest {
 protected:
  DrainResult Drain(uint32_t budget = 64) {
    return DrainEvents(*verbs_, context_.get(), budget,
                       [&](const AsyncEvent& event) { events_.push_back(event); });
  }

  void Queue(int type, uint32_t repeat = 1) {
    SimCommand command = ForDevice("mlx5_0");
    command.event = type;
    command.repeat = repeat;
    ASSERT_EQ(rnic_.Apply(command), "");
  }

  void FailReads(int error, uint32_t times, uint32_t skip = 0) {
    SimCommand command = ForDevice("mlx5_0");
    command.fail = SimCommand::Fail{"get_async_event", error, times, skip};
    ASSERT_EQ(rnic_.Apply(command), "");
  }

  uint64_t Reads() const { return rnic_.Calls("get_async_event"); }
  uint64_t Acks() const { return rnic_.Calls("ack_async_event"); }

  ContextHandle context_ = Open("mlx5_0");
  std::vector<AsyncEvent> events_;
};

TEST_F(DrainTest, EmptyQueueIsSuccess) {
  const DrainResult result = Drain();
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.events, 0u);
  EXPECT_FALSE(result.more);
  EXPECT_EQ(Reads(), 1u);
  EXPECT_EQ(Acks(), 0u);
}

TEST_F(DrainTest, BurstOfFiveTakesSixReadsAndFiveAcks) {
  Queue(IBV_EVENT_PORT_ERR, 5);
  const DrainResult result = Drain();
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.events, 5u);
  EXPECT_FALSE(result.more);
  EXPECT_EQ(events_.size(), 5u);
  EXPECT_EQ(Reads(), 6u);
  EXPECT_EQ(Acks(), 5u);
  EXPECT_EQ(rnic_.Held().unacked_events, 0);
}

TEST_F(DrainTest, HandledEventBehindUnhandledOnesIsReached) {
  Queue(99, 3);
  Queue(IBV_EVENT_COMM_EST, 2);
  Queue(IBV_EVENT_PORT_ERR);
  EXPECT_EQ(Drain().events, 6u);
  ASSERT_EQ(events_.size(), 6u);
  EXPECT_EQ(events_[0].type, 99);
  EXPECT_EQ(events_[0].port, 0);
  EXPECT_EQ(events_[3].type, IBV_EVENT_COMM_EST);
  EXPECT_EQ(events_[3].port, 0);
  EXPECT_EQ(events_[5].type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(events_[5].port, 1);
}

TEST_F(DrainTest, EventIsAcknowledgedBeforeItIsActedOn) {
  Queue(IBV_EVENT_PORT_ERR, 2);
  DrainEvents(*verbs_, context_.get(), 64,
              [&](const AsyncEvent&) { EXPECT_EQ(rnic_.Held().unacked_events, 0); });
  EXPECT_EQ(Acks(), 2u);
}

TEST_F(DrainTest, InterruptedReadsAreRetried) {
  Queue(IBV_EVENT_PORT_ACTIVE, 2);
  FailReads(EINTR, 3, 1);
  const DrainResult result = Drain();
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.events, 2u);
  EXPECT_EQ(Reads(), 6u);
  EXPECT_EQ(Acks(), 2u);
}

TEST_F(DrainTest, EndlessInterruptionEndsWithTheBudget) {
  FailReads(EINTR, 1'000'000);
  const DrainResult result = Drain(10);
  EXPECT_TRUE(result.more);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(Reads(), 10u);
}

TEST_F(DrainTest, RealErrorEndsItAndIsReported) {
  Queue(IBV_EVENT_PORT_ERR, 3);
  FailReads(EIO, 1, 1);
  const DrainResult result = Drain();
  EXPECT_EQ(result.error, EIO);
  EXPECT_EQ(result.events, 1u);
  EXPECT_FALSE(result.more);
  EXPECT_EQ(Reads(), 2u);
  EXPECT_EQ(Acks(), 1u);
}

TEST_F(DrainTest, ShortReadEndsItAndIsReported) {
  FailReads(EPROTO, 1'000'000);
  EXPECT_EQ(Drain().error, EPROTO);
  EXPECT_EQ(Reads(), 1u);
}

TEST_F(DrainTest, BudgetBoundsATurnAndNothingIsLost) {
  Queue(IBV_EVENT_COMM_EST, 25);
  DrainResult result = Drain(10);
  EXPECT_TRUE(result.more);
  EXPECT_EQ(result.events, 10u);
  EXPECT_TRUE(Drain(10).more);
  result = Drain(10);
  EXPECT_FALSE(result.more);
  EXPECT_EQ(result.events, 5u);
  EXPECT_EQ(events_.size(), 25u);
  EXPECT_EQ(rnic_.Held().unacked_events, 0);
}

TEST_F(DrainTest, DeviceFatalEndsTheBatchAfterItsAck) {
  Queue(IBV_EVENT_PORT_ERR);
  Queue(IBV_EVENT_DEVICE_FATAL);
  Queue(IBV_EVENT_PORT_ACTIVE);
  const DrainResult result = Drain();
  EXPECT_TRUE(result.device_fatal);
  EXPECT_FALSE(result.more);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.events, 2u);
  EXPECT_EQ(Reads(), 2u);
  EXPECT_EQ(Acks(), 2u);
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(events_[1].type, IBV_EVENT_DEVICE_FATAL);
}

TEST_F(DrainTest, ThrowingCallbackLeavesNothingUnacknowledged) {
  Queue(IBV_EVENT_PORT_ERR);
  EXPECT_THROW(DrainEvents(*verbs_, context_.get(), 64, [](const AsyncEvent&) { throw 1; }), int);
  EXPECT_EQ(rnic_.Held().unacked_events, 0);
}

}  // namespace
}  // namespace nicmon
