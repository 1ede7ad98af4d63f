#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "sysfs/stats_fixture.h"

// What a counter file may be and say.
namespace nicmon {
namespace {

using ::testing::HasSubstr;

class StatsValueTest : public StatsFixture {};

// Each way in which a file can be bad, in front of and behind the good ones in any order.

class BadFileTest : public StatsFixture {
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

TEST_F(StatsValueTest, TheLargestNumberIsANumber) {
  Counter("hw_counters/out_of_buffer", "18446744073709551615\n");
  Counter("hw_counters/zeros", "000000000000000000000000000007\n");
  OpenAndFinish();
  EXPECT_EQ(Value("hw_counters/out_of_buffer"), UINT64_MAX);
  EXPECT_EQ(Value("hw_counters/zeros"), 7U);
  EXPECT_EQ(sample()->saturated, 0U) << "64 bits do not stick";
}

TEST_F(StatsValueTest, AFieldAtItsLargestValueIsSaturatedAWiderValueIsNot) {
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

TEST_F(StatsValueTest, ErrnoOfAReadIsAnErrorThatHidesNothingElse) {
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

}  // namespace
}  // namespace nicmon
