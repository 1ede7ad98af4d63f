#include "nicmon/base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "nicmon/base/unique_fd.h"

namespace nicmon::log {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct Pipe {
  UniqueFd read, write;
  explicit Pipe(int capacity = 1 << 20) {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) == 0) {
      read.reset(fds[0]);
      write.reset(fds[1]);
      ::fcntl(write.get(), F_SETPIPE_SZ, capacity);
    }
  }

  /// What is written until the write end is closed.
  std::string ReadAll() {
    write.reset();
    std::string text;
    std::array<char, 65536> buffer;
    for (ssize_t n = 0; (n = ::read(read.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
    return text;
  }
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  EXPECT_EQ(begin, text.size()) << "the last line does not end";
  return lines;
}

/// Ends the logger whatever a test does.
struct Logging {
  Logging(Format format, Level level, const Pipe& pipe) { Start(format, level, pipe.write.get()); }
  ~Logging() { Stop(0); }
};

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

TEST(Log, ReaderThatSleepsCostsTheOldestRecordsAndNobodyWaits) {
  Pipe pipe(4096);
  const Logging logging(Format::kJson, Level::kInfo, pipe);
  const uint64_t before = SuppressedCount();
  constexpr int kRecords = 20000;
  const auto began = steady_clock::now();
  for (int i = 0; i < kRecords; ++i) {
    Info("record", {{"n", std::to_string(i)}});
  }
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(10));  // a sanitizer's time
  const uint64_t dropped = SuppressedCount() - before;
  EXPECT_GT(dropped, 10000U);
  EXPECT_EQ(::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK, 0);

  std::string text;
  std::thread reader([&] {
    std::array<char, 65536> buffer;
    for (ssize_t n = 0; (n = ::read(pipe.read.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
  });
  Stop(20000);
  pipe.write.reset();
  reader.join();

  uint64_t noticed = 0;
  int expected = 0;
  for (const std::string& line : Lines(text)) {
    const auto record = json::parse(line);
    if (record.contains("count")) {  // the gap is just here
      EXPECT_EQ(record.at("level"), "warning");
      noticed += std::stoull(record.at("count").get<std::string>());
      expected += std::stoi(record.at("count").get<std::string>());
    } else {
      ASSERT_EQ(record.at("n"), std::to_string(expected++));
    }
  }
  EXPECT_EQ(expected, kRecords);  // the newest are kept
  EXPECT_EQ(noticed, dropped);
  EXPECT_EQ(SuppressedCount() - before, dropped);
}

TEST(Log, StopGivesUpOnAPipeNobodyReads) {
  Pipe pipe(4096);
  const Logging logging(Format::kText, Level::kInfo, pipe);
  for (int i = 0; i < 1000; ++i) {
    Info("record", {{"text", std::string(100, 'x')}});
  }
  const auto began = steady_clock::now();
  Stop(200);
  const auto took = steady_clock::now() - began;
  EXPECT_GE(took, std::chrono::milliseconds(190));
  EXPECT_LT(took, std::chrono::seconds(2));
}

TEST(Log, AWriterThatGaveUpWritesNothingMore) {
  Pipe pipe(4096);
  const Logging logging(Format::kText, Level::kInfo, pipe);
  const std::string value(4000, 'x');
  Info("long", {{"a", value}, {"b", value}, {"c", value}});
  Stop(200);
  // A single large write() would block, and go on as soon as somebody reads.
  EXPECT_LE(pipe.ReadAll().size(), 4096U);
}

TEST(Log, StopWritesWhatIsQueued) {
  Pipe pipe;
  const Logging logging(Format::kText, Level::kInfo, pipe);
  for (int i = 0; i < 2000; ++i) {
    Info("record");
  }
  Stop(10000);
  EXPECT_EQ(Lines(pipe.ReadAll()).size(), 2000U);
}

TEST(Log, ReaderThatLeftIsNoReasonToStop) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.read.reset();
  const uint64_t before = SuppressedCount();
  const Logging logging(Format::kText, Level::kInfo, pipe);
  for (int i = 0; i < 10; ++i) {
    Info("record");
  }
  const auto began = steady_clock::now();
  Stop(10000);
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_EQ(SuppressedCount() - before, 10U);
}

TEST(Log, ShortWritesAreFinished) {
  Pipe pipe(4096);
  const Logging logging(Format::kJson, Level::kInfo, pipe);
  const std::string value(4000, 'x');
  Info("long", {{"a", value}, {"b", value}, {"c", value}});
  std::string text;
  std::array<char, 100> buffer;
  while (!text.ends_with('\n')) {
    const ssize_t n = ::read(pipe.read.get(), buffer.data(), buffer.size());
    ASSERT_GT(n, 0);
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  EXPECT_EQ(json::parse(text).at("c"), value);
}

TEST(Log, ADescriptorThatIsNonBlockingAlreadyIsWaitedFor) {
  Pipe pipe(4096);
  ASSERT_EQ(::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK), 0);
  const Logging logging(Format::kText, Level::kInfo, pipe);
  const uint64_t before = SuppressedCount();
  std::thread reader([&] {
    std::array<char, 65536> buffer;
    while (::read(pipe.read.get(), buffer.data(), buffer.size()) > 0) {
    }
  });
  for (int i = 0; i < 3000; ++i) {
    Info("record", {{"text", std::string(100, 'x')}});
  }
  Stop(20000);
  pipe.write.reset();
  reader.join();
  EXPECT_EQ(SuppressedCount(), before);
}

TEST(Log, LevelChangesAtRunTime) {
  Pipe pipe;
  const Logging logging(Format::kText, Level::kWarning, pipe);
  Debug("one");
  Info("two");
  Warning("three");
  Error("four");
  SetLevel(Level::kDebug);
  EXPECT_EQ(GetLevel(), Level::kDebug);
  Debug("five");
  SetLevel(Level::kError);
  Warning("six");
  Stop(5000);
  const auto lines = Lines(pipe.ReadAll());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].ends_with(" WARNING three"));
  EXPECT_TRUE(lines[1].ends_with(" ERROR four"));
  EXPECT_TRUE(lines[2].ends_with(" DEBUG five"));
}

TEST(Log, ManyThreadsNeverMixRecords) {
  Pipe pipe;
  const Logging logging(Format::kJson, Level::kInfo, pipe);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i) {
        Info("record", {{"thread", std::to_string(t)}});
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  Stop(20000);
  int records = 0;
  for (const std::string& line : Lines(pipe.ReadAll())) {
    EXPECT_TRUE(json::accept(line)) << line;
    ++records;
  }
  EXPECT_EQ(records, 2000);
}

TEST(Log, GoesToStderrWhileThereIsNoWriter) {
  SetLevel(Level::kInfo);
  Pipe pipe;
  UniqueFd saved(::dup(STDERR_FILENO));
  ASSERT_GE(::dup2(pipe.write.get(), STDERR_FILENO), 0);
  Info("early", {{"a", "b"}});
  ASSERT_GE(::dup2(saved.get(), STDERR_FILENO), 0);
  EXPECT_TRUE(pipe.ReadAll().ends_with(" INFO early a=b\n"));
}

TEST(Log, SuppressedCountsWhatCallersLeaveOut) {
  const uint64_t before = SuppressedCount();
  CountSuppressed(5);
  EXPECT_EQ(SuppressedCount() - before, 5U);
}

TEST(Log, LevelNames) {
  EXPECT_EQ(LevelFromName("warning"), Level::kWarning);
  EXPECT_EQ(LevelName(Level::kError), "error");
  EXPECT_EQ(LevelFromName("WARNING"), std::nullopt);
  EXPECT_EQ(LevelFromName(""), std::nullopt);
}

}  // namespace
}  // namespace nicmon::log
