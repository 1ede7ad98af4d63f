#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include "base/log_pipe.h"

// One record as text and as JSON.
namespace nicmon::log {
namespace {

using nlohmann::json;

std::string Written(Format format, std::string_view message, std::initializer_list<Field> fields) {
  Pipe pipe;
  const Logging logging(format, Level::kInfo, pipe);
  Write(Level::kWarning, message, fields);
  Stop(5000);
  return pipe.ReadAll();
}

bool IsUtf8(const std::string& text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

TEST(LogText, OneLineWithQuotedValuesWhereNeeded) {
  const std::string line =
      Written(Format::kText, "port is down",
              {{"device", "mlx5_0"}, {"note", "a \"b\"\n\\c"}, {"empty", ""}, {"a", "x=y"}});
  EXPECT_TRUE(std::regex_match(
      line, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING port is down )"
                       R"(device=mlx5_0 note="a \\"b\\"\\n\\\\c" empty="" a="x=y")"
                       "\n")))
      << line;
}

TEST(LogText, EscapesWhatBreaksLinesOrSteersTerminals) {
  const std::string line =
      Written(Format::kText, "a\nb\x1b[31m",
              {{"v", "\x7f\xc2\x85\xe2\x80\xa8\xff\xe2\x80\xaeK\xc3\xb6ln"}, {"k\n=", "1"}});
  EXPECT_THAT(line, testing::HasSubstr("a\\nb\\u001b[31m "));
  EXPECT_THAT(line, testing::HasSubstr("v=\"\\u007f\\u0085\\u2028\\xff\\u202eK\xc3\xb6ln\""));
  EXPECT_THAT(line, testing::HasSubstr(" k__=1\n"));
}

TEST(LogJson, OneObjectWithStrings) {
  const auto record = json::parse(Written(Format::kJson, "port is down",
                                          {{"device", "mlx5_0"}, {"n", "5"}, {"v", "\xff\"\x01"}}));
  EXPECT_TRUE(std::regex_match(record.at("time").get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  EXPECT_EQ(record.at("level"), "warning");
  EXPECT_EQ(record.at("message"), "port is down");
  EXPECT_EQ(record.at("device"), "mlx5_0");
  EXPECT_EQ(record.at("n"), "5");
  EXPECT_EQ(record.at("v"), "\xef\xbf\xbd\"\x01");
}

TEST(LogJson, FieldsNeverReplaceOurs) {
  const auto record =
      json::parse(Written(Format::kJson, "m", {{"time", "a"}, {"level", "b"}, {"message", "c"}}));
  EXPECT_EQ(record.at("time_"), "a");
  EXPECT_EQ(record.at("level_"), "b");
  EXPECT_EQ(record.at("message_"), "c");
  EXPECT_EQ(record.at("level"), "warning");
  EXPECT_EQ(record.at("message"), "m");
}

TEST(Log, LongValuesAreCut) {
  const auto record =
      json::parse(Written(Format::kJson, "m", {{"v", std::string(100000, 'x')}, {"w", "end"}}));
  EXPECT_EQ(record.at("v").get<std::string>(), std::string(4096, 'x') + "...");
  EXPECT_EQ(record.at("w"), "end");
}

TEST(Log, RandomBytesAlwaysGiveOneValidRecord) {
  std::mt19937 random(4711);
  const auto bytes = [&random] {
    std::string text(random() % 40, '\0');
    for (char& c : text) {
      // Half of them from what is likely to hurt.
      constexpr std::string_view kNasty = "\"\\\n\r\t\0{}=,: \x1b\xc3\xb6\xe2\x82\xac\xf0\x9f\xed";
      c = random() % 2 == 0 ? kNasty[random() % kNasty.size()] : static_cast<char>(random());
    }
    return text;
  };
  for (const Format format : {Format::kJson, Format::kText}) {
    Pipe pipe;
    const Logging logging(format, Level::kInfo, pipe);
    std::string text;
    std::thread reader([&] {
      std::array<char, 65536> buffer;
      for (ssize_t n = 0; (n = ::read(pipe.read.get(), buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<size_t>(n));
      }
    });
    constexpr size_t kRecords = 3000;
    for (size_t i = 0; i < kRecords; ++i) {
      const std::string key = "k" + bytes();
      Info(bytes(), {{key, bytes()}, {"last", "z"}});
    }
    Stop(10000);
    pipe.write.reset();
    reader.join();
    const auto lines = Lines(text);
    EXPECT_EQ(lines.size(), kRecords);
    for (const std::string& line : lines) {
      ASSERT_TRUE(IsUtf8(line)) << Quoted(line);
      if (format == Format::kJson) {
        const auto record = json::parse(line, nullptr, false);
        ASSERT_TRUE(record.is_object()) << Quoted(line);
        EXPECT_EQ(record.size(), 5U) << line;
        EXPECT_EQ(record.at("last"), "z");
      } else {
        ASSERT_TRUE(line.ends_with(" last=z")) << line;
        ASSERT_TRUE(std::none_of(line.begin(), line.end(), [](unsigned char c) {
          return c < 0x20 || c == 0x7f;
        })) << Quoted(line);
      }
    }
  }
}

}  // namespace
}  // namespace nicmon::log
