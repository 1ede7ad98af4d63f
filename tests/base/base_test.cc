#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "nicmon/base/clock.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/base/group.h"
#include "nicmon/base/published.h"
#include "nicmon/base/rate_limit.h"

namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ErrnoTextTest, NamesBothWays) {
  EXPECT_EQ(ErrnoText(EIO), "EIO (Input/output error)");
  EXPECT_EQ(ErrnoText(4711), "errno 4711");
  EXPECT_EQ(ErrnoFromName("EOPNOTSUPP"), EOPNOTSUPP);
  EXPECT_EQ(ErrnoFromName("NOPE"), std::nullopt);
  EXPECT_EQ(ErrnoFromName(""), std::nullopt);
}

TEST(FindGroupTest, ByNameOfThisHostOrByAnyNumber) {
  const group* own = ::getgrgid(::getegid());
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(FindGroup(own->gr_name), ::getegid());
  EXPECT_EQ(FindGroup("0"), gid_t{0});
  EXPECT_EQ(FindGroup("4294967294"), gid_t{4294967294});
  for (const char* none : {"", "no-such-group", "4294967295", "4294967296", "-1", "+1", "1x"}) {
    EXPECT_EQ(FindGroup(none), std::nullopt) << none;
  }
}

TEST(Rfc3339Test, MillisecondsInUtcAlsoBefore1970) {
  EXPECT_EQ(Rfc3339(WallTime(milliseconds(1'769'903'999'123))), "2026-01-31T23:59:59.123Z");
  EXPECT_EQ(Rfc3339(WallTime(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
}

TEST(RateLimitTest, FirstPassesThenOnePerIntervalWithTheCount) {
  RateLimit limit(seconds(10));
  const SteadyTime start{};
  EXPECT_EQ(limit.Allow("a", start), 0U);
  EXPECT_EQ(limit.Allow("a", start + seconds(1)), std::nullopt);
  EXPECT_EQ(limit.Allow("a", start + seconds(9)), std::nullopt);
  EXPECT_EQ(limit.Allow("b", start + seconds(9)), 0U);
  EXPECT_EQ(limit.Allow("a", start + seconds(10)), 2U);
  EXPECT_EQ(limit.Allow("a", start + seconds(20)), 0U);
}

TEST(PublishedTest, ReadersKeepTheValueTheyLoaded) {
  Published<int> published(std::make_shared<const int>(1));
  const auto old = published.load();
  published.store(std::make_shared<const int>(2));
  EXPECT_EQ(*old, 1);
  EXPECT_EQ(*published.load(), 2);
}

}  // namespace
}  // namespace nicmon
