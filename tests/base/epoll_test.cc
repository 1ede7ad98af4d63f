#include "nicmon/base/epoll.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>

namespace nicmon {
namespace {

TEST(EpollTest, WakerWakesAndClears) {
  Epoll epoll;
  Waker waker;
  const WatchId id = epoll.Add(waker.fd(), EPOLLIN);
  ASSERT_NE(id.generation, 0U);
  EXPECT_TRUE(epoll.Wait(0).empty());
  waker.Wake();
  waker.Wake();
  const auto ready = epoll.Wait(-1);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].id, id);
  waker.Clear();
  EXPECT_TRUE(epoll.Wait(0).empty());
}

TEST(EpollTest, StaleIdMatchesNothingAfterItsSlotIsReused) {
  Epoll epoll;
  Waker first;
  Waker second;
  const WatchId old_id = epoll.Add(first.fd(), EPOLLIN);
  epoll.Remove(old_id);
  const WatchId new_id = epoll.Add(second.fd(), EPOLLIN);
  EXPECT_EQ(old_id.slot, new_id.slot);
  EXPECT_FALSE(epoll.Contains(old_id));
  epoll.Remove(old_id);  // must not take the new registration away
  EXPECT_TRUE(epoll.Contains(new_id));
}

TEST(EpollTest, AddingABadDescriptorFailsAndLeavesNothing) {
  Epoll epoll;
  EXPECT_EQ(epoll.Add(-1, EPOLLIN).generation, 0U);
  EXPECT_EQ(errno, EBADF);
}

TEST(EpollTest, RegistrationEndsWithItsOwner) {
  Epoll epoll;
  Waker waker;
  WatchId id;
  {
    const EpollRegistration registration(epoll, waker.fd(), EPOLLIN);
    id = registration.id();
    EXPECT_TRUE(epoll.Contains(id));
  }
  EXPECT_FALSE(epoll.Contains(id));
}

}  // namespace
}  // namespace nicmon
