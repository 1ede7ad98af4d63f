#include "nicmon/base/text.h"

#include <gtest/gtest.h>

namespace nicmon {
namespace {

constexpr char kBad[] = "\xEF\xBF\xBD";

TEST(SanitizeUtf8, LeavesWellFormedTextAlone) {
  const std::string text = "aé€\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF\n\t";
  EXPECT_EQ(SanitizeUtf8(text), text);
  EXPECT_EQ(SanitizeUtf8(""), "");
  const std::string nul("a\0b", 3);
  EXPECT_EQ(SanitizeUtf8(nul), nul);
}

TEST(SanitizeUtf8, ReplacesEveryBadByte) {
  const std::string bad = kBad;
  EXPECT_EQ(SanitizeUtf8("a\xff"), "a" + bad);
  EXPECT_EQ(SanitizeUtf8("\x80z"), bad + "z");
  EXPECT_EQ(SanitizeUtf8("\xC0\xAF"), bad + bad);                      // overlong '/'
  EXPECT_EQ(SanitizeUtf8("\xE0\x80\xAF"), bad + bad + bad);            // overlong, three bytes
  EXPECT_EQ(SanitizeUtf8("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(SanitizeUtf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(SanitizeUtf8("\xF0\x8F\xBF\xBF"), bad + bad + bad + bad);  // overlong, four bytes
  EXPECT_EQ(SanitizeUtf8("\xE2\x82"), bad + bad);                      // cut short
  EXPECT_EQ(SanitizeUtf8("\xE2\x82x"), bad + bad + "x");
}

TEST(CleanLine, RemovesControlsAndTrims) {
  EXPECT_EQ(CleanLine("  a b\r\n"), "a b");
  EXPECT_EQ(CleanLine("\t\n "), "");
  EXPECT_EQ(CleanLine("a\x7f\xC2\x85"
                      "b\x1b"),
            "ab");
  EXPECT_EQ(CleanLine("\xff\n"), kBad);
}

}  // namespace
}  // namespace nicmon
