#include <gtest/gtest.h>

#include "http/gzip.h"
#include "http/text.h"
#include "http/times.h"
#include "nicmon/http/http_stats.h"

namespace nicmon::http {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Times, Ttl) {
  EXPECT_EQ(ParseTtl("30s"), Duration(seconds(30)));
  EXPECT_EQ(ParseTtl("10m"), Duration(minutes(10)));
  EXPECT_EQ(ParseTtl("2h"), Duration(hours(2)));
  EXPECT_EQ(ParseTtl("1d"), Duration(hours(24)));
  EXPECT_EQ(ParseTtl("1h30m"), Duration(minutes(90)));
  for (const char* bad :
       {"", "s", "5", "1.5h", "-1h", "1h 30m", "0s", "1ms", "1H", "4000d", "9999999999s", "1h30"}) {
    EXPECT_EQ(ParseTtl(bad), std::nullopt) << bad;
  }
}

TEST(Times, Rfc3339RoundTrips) {
  for (const char* text :
       {"1970-01-01T00:00:00.000Z", "2026-02-28T23:59:59.123Z", "2024-02-29T12:00:00.000Z"}) {
    const auto time = ParseRfc3339(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(Rfc3339(*time), text);
  }
  EXPECT_EQ(ParseRfc3339("2026-01-01T00:30:00+01:00"), ParseRfc3339("2025-12-31T23:30:00Z"));
  EXPECT_EQ(ParseRfc3339("2026-01-01T00:30:00-00:30"), ParseRfc3339("2026-01-01t01:00:00z"));
  EXPECT_EQ(ParseRfc3339("2026-01-01T00:30:00 01:00"), ParseRfc3339("2025-12-31T23:30:00Z"));
  for (const char* bad :
       {"", "08:00", "2026-01-01", "2026-01-01T00:00:00", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+25:00", "2026-01-01T00:00:00Zx", "9999-01-01T00:00:00Z"}) {
    EXPECT_EQ(ParseRfc3339(bad), std::nullopt) << bad;
  }
}

TEST(Text, PercentEncodeComesBackAndNeedsNoQuotes) {
  const std::string text = "a \"b'\\$&+%\n\xc3\xa9-._~Z9";
  EXPECT_EQ(PercentEncode(text), "a%20%22b%27%5C%24%26%2B%25%0A%C3%A9-._~Z9");
  EXPECT_EQ(PercentDecode(PercentEncode(text), true), text);
}

TEST(Text, PercentDecodeIsStrict) {
  EXPECT_EQ(PercentDecode("a%20b+c", false), "a b+c");
  EXPECT_EQ(PercentDecode("a%2Bb+c", true), "a+b c");
  for (const char* bad : {"%", "%2", "%2g", "%%", "%00", "a%0"}) {
    EXPECT_EQ(PercentDecode(bad, false), std::nullopt) << bad;
  }
}

TEST(Text, Utf8) {
  EXPECT_TRUE(IsUtf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\xaf", "\x80"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

TEST(Text, Quality) {
  EXPECT_EQ(ListedQuality("a, text/plain;q=0.5", "text/plain"), 0.5);
  EXPECT_EQ(ListedQuality("text/plain", "text/plain"), 1);
  EXPECT_EQ(ListedQuality("text/plain;q=x", "text/plain"), 0);
  EXPECT_EQ(ListedQuality("*/*", "text/plain"), std::nullopt);
  EXPECT_TRUE(AcceptsGzip("deflate, GZIP"));
  EXPECT_TRUE(AcceptsGzip("*"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0, *"));
  EXPECT_FALSE(AcceptsGzip("br"));
}

TEST(HttpStats, AllReasonsAreThereFromTheStart) {
  HttpStats stats;
  const auto empty = stats.Read();
  EXPECT_EQ(empty.rejected.size(), 10U);
  EXPECT_TRUE(empty.requests.empty());
  stats.Request(200, 0.002);
  stats.Request(404, 7);
  stats.Rejected("timeout");
  stats.ConnectionOpened();
  const auto counts = stats.Read();
  EXPECT_EQ(counts.requests.at(404), 1U);
  EXPECT_EQ(counts.rejected.at("timeout"), 1U);
  EXPECT_EQ(counts.connections, 1);
  EXPECT_EQ(counts.request_duration.histogram.sample_count, 2U);
}

}  // namespace
}  // namespace nicmon::http
