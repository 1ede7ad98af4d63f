#include "nicmon/base/bounded_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "testing/wait_for.h"

namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Outcome = BoundedCalls::Outcome;

/// A call that hangs until Open(), and may be left behind: it has what it needs with it.
class Gate {
 public:
  std::function<void()> Call() const {
    return [entered = entered_, opened = opened_] {
      ++*entered;
      opened.wait();
    };
  }
  void Open() { promise_.set_value(); }
  int entered() const { return *entered_; }

 private:
  const std::shared_ptr<std::atomic<int>> entered_ = std::make_shared<std::atomic<int>>(0);
  std::promise<void> promise_;
  std::shared_future<void> opened_{promise_.get_future()};
};

TEST(BoundedCallsTest, ComesBackWhenTheCallIsDone) {
  BoundedCalls calls;
  auto value = std::make_shared<int>(0);
  EXPECT_EQ(calls.Run([value] { *value = 7; }, hours(1)), Outcome::kDone);
  EXPECT_EQ(*value, 7);
  EXPECT_EQ(value.use_count(), 1) << "what the call owned is gone";
}

TEST(BoundedCallsTest, WhatHangsIsLeftBehindAndKeepsOthersFromHangingToo) {
  Gate gate;
  BoundedCalls calls;
  EXPECT_EQ(calls.Run(gate.Call(), milliseconds(20)), Outcome::kTimedOut);
  EXPECT_EQ(calls.Run([] { FAIL() << "one at a time"; }, hours(1)), Outcome::kNotRun)
      << "not waited for";
  gate.Open();
  EXPECT_TRUE(nicmon::testing::WaitFor(
      [&] { return calls.Run([] {}, milliseconds(20)) == Outcome::kDone; }));
  EXPECT_EQ(gate.entered(), 1);
}

TEST(BoundedCallsTest, WaitsForItsTurnWhileOthersDoNotHang) {
  Gate gate;
  BoundedCalls calls(2);
  std::vector<std::thread> first;
  for (int i = 0; i < 2; ++i) {
    first.emplace_back([&] { EXPECT_EQ(calls.Run(gate.Call(), hours(1)), Outcome::kDone); });
  }
  ASSERT_TRUE(nicmon::testing::WaitFor([&] { return gate.entered() == 2; }));
  EXPECT_EQ(calls.Run([] { FAIL() << "no more than two"; }, milliseconds(20)), Outcome::kNotRun);
  std::thread third([&] { EXPECT_EQ(calls.Run([] {}, hours(1)), Outcome::kDone); });
  gate.Open();
  third.join();
  for (std::thread& thread : first) {
    thread.join();
  }
}

TEST(BoundedCallsTest, OneThatHangsLeavesRoomForOthers) {
  Gate gate;
  BoundedCalls calls(2);
  EXPECT_EQ(calls.Run(gate.Call(), milliseconds(20)), Outcome::kTimedOut);
  EXPECT_EQ(calls.Run([] {}, hours(1)), Outcome::kDone);
  gate.Open();
}

TEST(BoundedCallsTest, ItMayGoWhileACallHangs) {
  auto gate = std::make_unique<Gate>();
  {
    BoundedCalls calls;
    EXPECT_EQ(calls.Run(gate->Call(), milliseconds(20)), Outcome::kTimedOut);
  }
  gate->Open();
}

}  // namespace
}  // namespace nicmon
