#include "nicmon/base/detached_threads.h"

#include <gtest/gtest.h>

#include <future>

namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(DetachedThreadsTest, AThreadCountsUntilAllThatItsWorkOwnedIsGone) {
  std::promise<void> worked, open;
  DetachedThreads threads;
  std::shared_ptr<void> owned(nullptr, [gate = open.get_future().share()](void*) { gate.wait(); });
  threads.Start([&worked, owned = std::move(owned)] { worked.set_value(); });
  worked.get_future().wait();
  EXPECT_FALSE(threads.WaitForAll(milliseconds(20))) << "it is being destroyed";
  open.set_value();
  EXPECT_TRUE(threads.WaitForAll(hours(1)));
}

TEST(DetachedThreadsTest, NoneIsWaitedForWhereThereAreNone) {
  DetachedThreads threads;
  EXPECT_TRUE(threads.WaitForAll(Duration(0)));
}

TEST(DetachedThreadsTest, MayGoBeforeItsThreads) {
  std::promise<void> open, done;
  {
    DetachedThreads threads;
    threads.Start([gate = open.get_future().share(), &done] {
      gate.wait();
      done.set_value();
    });
    EXPECT_FALSE(threads.WaitForAll(milliseconds(20)));
  }
  open.set_value();
  done.get_future().wait();
}

}  // namespace
}  // namespace nicmon
