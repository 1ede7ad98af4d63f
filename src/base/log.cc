#include "nicmon/base/log.h"

#include <poll.h>
#include <pthread.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "log_format.h"
#include "log_queue.h"

namespace nicmon::log {
namespace {

using SpdLevel = spdlog::level::level_enum;

SpdLevel ToSpdlog(Level level) {
  constexpr std::array<SpdLevel, 4> kLevels = {spdlog::level::debug, spdlog::level::info,
                                               spdlog::level::warn, spdlog::level::err};
  return kLevels[static_cast<size_t>(level)];
}

/// Our names of the levels in a pattern: %* in lower case for JSON, in upper case for text.
class LevelFlag : public spdlog::custom_flag_formatter {
 public:
  explicit LevelFlag(bool upper) : upper_(upper) {}
  void format(const spdlog::details::log_msg& msg, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string_view name = Name(msg.level);
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelFlag>(upper_);
  }

 private:
  std::string_view Name(SpdLevel level) const {
    switch (level) {
      case spdlog::level::debug:
        return upper_ ? "DEBUG" : "debug";
      case spdlog::level::info:
        return upper_ ? "INFO" : "info";
      case spdlog::level::warn:
        return upper_ ? "WARNING" : "warning";
      default:
        return upper_ ? "ERROR" : "error";
    }
  }
  bool upper_;
};

std::unique_ptr<spdlog::formatter> MakeFormatter(Format format) {
  const bool json = format == Format::kJson;
  spdlog::pattern_formatter::custom_flags flags;
  flags['*'] = std::make_unique<LevelFlag>(!json);
  return std::make_unique<spdlog::pattern_formatter>(
      json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %* %v",
      spdlog::pattern_time_type::utc, "\n", std::move(flags));
}

std::string Body(Format format, std::string_view message, std::span<const Field> fields) {
  return format == Format::kJson ? JsonBody(message, fields) : TextBody(message, fields);
}

std::string Line(spdlog::formatter& formatter, Level level, const std::string& body) {
  spdlog::memory_buf_t out;
  formatter.format(spdlog::details::log_msg("", ToSpdlog(level), body), out);
  return {out.data(), out.size()};
}

/// Hands finished lines to the queue. spdlog's own asynchronous logger is not used: it keeps
/// 8192 message slots of some hundred bytes resident from the start, and cannot be left behind.
class QueueSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  QueueSink(std::unique_ptr<spdlog::formatter> formatter, std::shared_ptr<LineQueue> queue)
      : base_sink(std::move(formatter)), queue_(std::move(queue)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& msg) override {
    spdlog::memory_buf_t out;
    formatter_->format(msg, out);
    queue_->Push(std::string(out.data(), out.size()));
  }
  void flush_() override {}

 private:
  std::shared_ptr<LineQueue> queue_;
};

/// Everything that exists between Start() and Stop().
struct Running {
  Format format;
  std::shared_ptr<LineQueue> queue;
  std::shared_ptr<spdlog::logger> logger;
  std::thread writer;
};

struct State {
  std::atomic<Level> level{Level::kInfo};
  std::atomic<uint64_t> suppressed{0};
  std::mutex mutex;  // guards running
  std::shared_ptr<Running> running;
};

/// Never destroyed: a thread that was left behind may still log while the process ends.
State& TheState() {
  static State* const state = new State;
  return *state;
}

std::shared_ptr<Running> CurrentlyRunning() {
  State& state = TheState();
  std::lock_guard lock(state.mutex);
  return state.running;
}

void WriteToStderr(Level level, std::string_view message, std::span<const Field> fields) {
  const auto formatter = MakeFormatter(Format::kText);
  const std::string line = Line(*formatter, level, TextBody(message, fields));
  pollfd wait{STDERR_FILENO, POLLOUT, 0};
  const size_t length = std::min<size_t>(line.size(), PIPE_BUF);
  if (::poll(&wait, 1, 0) != 1 || ::write(STDERR_FILENO, line.data(), length) < 0) {
    CountSuppressed(1);
  }
}

}  // namespace

void Start(Format format, Level level, int fd) {
  SetLevel(level);
  auto notice = [format, formatter = std::shared_ptr(MakeFormatter(format))](uint64_t dropped) {
    const std::array fields = {Field{"count", std::to_string(dropped)}};
    return Line(*formatter, Level::kWarning,
                Body(format, "log records dropped, the reader of the log is too slow", fields));
  };
  auto running = std::make_shared<Running>();
  running->format = format;
  running->queue = std::make_shared<LineQueue>(std::move(notice));
  running->logger = std::make_shared<spdlog::logger>(
      "nicmon", std::make_shared<QueueSink>(MakeFormatter(format), running->queue));
  running->logger->set_level(spdlog::level::trace);  // WriteFields() has decided already
  running->logger->set_error_handler([](const std::string& /*what*/) { CountSuppressed(1); });
  running->writer = std::thread([queue = running->queue, fd] { queue->Run(fd); });
  ::pthread_setname_np(running->writer.native_handle(), "log");

  State& state = TheState();
  std::lock_guard lock(state.mutex);
  state.running = std::move(running);
}

void Stop(int timeout_ms) {
  std::shared_ptr<Running> running;
  {
    State& state = TheState();
    std::lock_guard lock(state.mutex);
    running = std::exchange(state.running, nullptr);
  }
  if (!running) {
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  if (running->queue->Close(deadline)) {
    running->writer.join();
  } else {
    running->writer.detach();
  }
}

void SetLevel(Level level) {
  TheState().level.store(level, std::memory_order_relaxed);
}
Level GetLevel() {
  return TheState().level.load(std::memory_order_relaxed);
}

std::optional<Level> LevelFromName(std::string_view name) {
  for (const Level level : {Level::kDebug, Level::kInfo, Level::kWarning, Level::kError}) {
    if (LevelName(level) == name) {
      return level;
    }
  }
  return std::nullopt;
}

std::string_view LevelName(Level level) {
  constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warning", "error"};
  return kNames[static_cast<size_t>(level)];
}

uint64_t SuppressedCount() {
  return TheState().suppressed.load(std::memory_order_relaxed);
}
void CountSuppressed(uint64_t n) {
  TheState().suppressed.fetch_add(n, std::memory_order_relaxed);
}

void WriteFields(Level level, std::string_view message, std::span<const Field> fields) {
  if (level < GetLevel()) {
    return;
  }
  if (const auto running = CurrentlyRunning()) {
    running->logger->log(ToSpdlog(level), Body(running->format, message, fields));
  } else {
    WriteToStderr(level, message, fields);
  }
}

void Write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  WriteFields(level, message, std::span(fields.begin(), fields.size()));
}

}  // namespace nicmon::log
