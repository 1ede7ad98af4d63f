#include <gmock/gmock.h>
#include <prometheus/text_serializer.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

#include "nicmon/metrics/exposition.h"

namespace nicmon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Text(const std::vector<MetricFamily>& families) {
  return ExpositionSerializer().Serialize(families);
}

MetricFamily Gauge(double value) {
  MetricFamily family{"x", "", MetricType::Gauge, {}};
  family.metric.emplace_back().gauge.value = value;
  return family;
}

std::string Value(double value) {
  const std::string text = Text({Gauge(value)});
  const size_t at = text.find("\nx ") + 3;
  return text.substr(at, text.size() - at - 1);
}

TEST(Serializer, IntegersHaveAllTheirDigits) {
  EXPECT_EQ(Value(0), "0");
  EXPECT_EQ(Value(-17), "-17");
  EXPECT_EQ(Value(9007199254740992.0), "9007199254740992");        // 2^53
  EXPECT_EQ(Value(9223372036854774784.0), "9223372036854774784");  // the last double below 2^63
  EXPECT_EQ(Value(1e18), "1000000000000000000");
  EXPECT_EQ(Value(1e22), "1e+22");
  EXPECT_EQ(Value(static_cast<double>(std::numeric_limits<uint64_t>::max())),
            "18446744073709551616");  // 2^64: a count that large is rounded to it
}

TEST(Serializer, OtherValuesAreShortest) {
  EXPECT_EQ(Value(0.1), "0.1");
  EXPECT_EQ(Value(1769860800.123), "1769860800.123");
  EXPECT_EQ(Value(1e-06), "1e-06");
  EXPECT_EQ(Value(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(Value(-0.0), "-0");
  EXPECT_EQ(Value(kInfinity), "+Inf");
  EXPECT_EQ(Value(-kInfinity), "-Inf");
  EXPECT_EQ(Value(std::nan("")), "NaN");
}

TEST(Serializer, EveryValueReadsBackTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isnan(value)) {
      ASSERT_EQ(std::strtod(Value(value).c_str(), nullptr), value);
    }
  }
}

TEST(Serializer, EscapesLabelValuesAndHelp) {
  MetricFamily family = Gauge(1);
  family.help = "a \"b\" c\\d\ne";
  family.metric[0].label = {{"l", "a \"b\" c\\d\ne"}};
  EXPECT_EQ(Text({family}),
            "# HELP x a \"b\" c\\\\d\\ne\n"
            "# TYPE x gauge\n"
            "x{l=\"a \\\"b\\\" c\\\\d\\ne\"} 1\n");
}

TEST(Serializer, ReplacesWhatIsNotUtf8) {
  const auto label = [](const std::string& value) {
    MetricFamily family = Gauge(1);
    family.metric[0].label = {{"l", value}};
    const std::string text = Text({family});
    const size_t at = text.find("l=\"") + 3;
    return text.substr(at, text.rfind('"') - at);
  };
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(label("größe €\xF0\x9F\x90\x8C\xEF\xBF\xBF"), "größe €\xF0\x9F\x90\x8C\xEF\xBF\xBF");
  EXPECT_EQ(label("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(label("\xE2\x82"), bad + bad);                      // cut short
  EXPECT_EQ(label("\xC3("), bad + "(");                         // no continuation
  EXPECT_EQ(label("\xC0\x80"), bad + bad);                      // overlong
  EXPECT_EQ(label("\xE0\x9F\xBF"), bad + bad + bad);            // overlong
  EXPECT_EQ(label("\xED\xA0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(label("\xF0\x8F\xBF\xBF"), bad + bad + bad + bad);  // overlong
  EXPECT_EQ(label("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(label("\x80\xF5"), bad + bad);
}

TEST(Serializer, LeavesOutEmptyFamilies) {
  MetricFamily empty{"empty", "help", MetricType::Counter, {}};
  EXPECT_EQ(Text({empty}), "");
  EXPECT_EQ(Text({}), "");
}

TEST(Serializer, StreamAndStringAgree) {
  std::ostringstream out;
  ExpositionSerializer().Serialize(out, {Gauge(2)});
  EXPECT_EQ(out.str(), "# TYPE x gauge\nx 2\n");
}

TEST(Serializer, HistogramAlwaysHasAnInfiniteBucket) {
  MetricFamily family{"h", "", MetricType::Histogram, {}};
  auto& histogram = family.metric.emplace_back().histogram;
  histogram = {3, 0.5, {{1, 0.1}}};
  EXPECT_THAT(Text({family}), HasSubstr("h_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 3\n"));
  histogram.bucket.push_back({3, kInfinity});
  EXPECT_THAT(Text({family}), HasSubstr("h_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 3\n"));
}

TEST(Serializer, BucketCountsAreExactAbove2To53) {
  MetricFamily family{"h", "", MetricType::Histogram, {}};
  family.metric.emplace_back().histogram = {9007199254740993, 0, {{9007199254740993, 1}}};
  EXPECT_THAT(Text({family}), HasSubstr("h_bucket{le=\"1\"} 9007199254740993\n"));
}

/// A family of random shape with values that the library writes right: 16 digits are exact for
/// them, and the help needs no escape.
MetricFamily RandomFamily(std::mt19937_64& random) {
  constexpr MetricType kTypes[] = {MetricType::Counter, MetricType::Gauge, MetricType::Summary,
                                   MetricType::Untyped, MetricType::Histogram};
  const auto pick = [&](uint64_t n) { return random() % n; };
  const auto value = [&]() -> double {
    switch (pick(4)) {
      case 0:
        return static_cast<double>(pick(1'000'000'000'000'000));
      case 1:
        return static_cast<double>(pick(1'000'000)) / 1024;
      case 2:
        return -static_cast<double>(pick(100)) / 8;
      default:
        return pick(2) == 0 ? kInfinity : -kInfinity;
    }
  };
  MetricFamily family{"m" + std::to_string(pick(1000)),
                      pick(3) == 0 ? "" : "Some \"help\".",
                      kTypes[pick(std::size(kTypes))],
                      {}};
  for (uint64_t i = 0; i <= pick(4); ++i) {
    ClientMetric& metric = family.metric.emplace_back();
    for (uint64_t l = 0; l < pick(4); ++l) {
      constexpr const char* kValues[] = {"", "plain", "qu\"ote", "back\\slash", "new\nline", "ü"};
      metric.label.push_back({"l" + std::to_string(l), kValues[pick(std::size(kValues))]});
    }
    metric.counter.value = metric.gauge.value = metric.untyped.value = value();
    metric.summary = {pick(100), value(), {{0.5, value()}, {0.99, value()}}};
    metric.histogram = {pick(100), value(), {{1, 1e-06}, {2, 0.25}, {3, 10}}};
    if (pick(2) == 0) {
      metric.histogram.bucket.push_back({metric.histogram.sample_count, kInfinity});
    }
    metric.timestamp_ms = static_cast<int64_t>(pick(2) * 1769860800123);
  }
  return family;
}

TEST(Serializer, AgreesWithTheLibraryWhereBothAreRight) {
  std::mt19937_64 random(7);
  const prometheus::TextSerializer library;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<MetricFamily> families = {RandomFamily(random), RandomFamily(random)};
    std::ostringstream expected;
    library.Serialize(expected, families);
    ASSERT_EQ(Text(families), expected.str());
  }
}

}  // namespace
}  // namespace nicmon
