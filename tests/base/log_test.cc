#include "nicmon/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/log_pipe.h"
#include "testing/stopwatch.h"

// The writer behind the log: what is read slowly, in part, by nobody, or from many threads.
namespace nicmon::log {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

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
  const testing::Stopwatch stopwatch;
  Stop(200);
  EXPECT_GE(steady_clock::now() - began, std::chrono::milliseconds(190));
  EXPECT_LT(stopwatch.Elapsed(), std::chrono::seconds(2));
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
