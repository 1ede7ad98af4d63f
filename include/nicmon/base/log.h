#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nicmon::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson };

/// One key=value of a record. Values may hold any bytes: the formatters escape them.
struct Field {
  std::string_view key;
  std::string value;
};

/// Records waiting for the reader of our output; more drop the oldest. They may hold at most
/// kQueueBytes altogether.
inline constexpr size_t kQueueRecords = 8192;
inline constexpr size_t kQueueBytes = size_t{4} << 20;

/// Starts the writer thread on `fd` (not owned; standard output unless told). Before Start() and
/// after Stop() records go straight to stderr, in text, and are dropped where that would block.
/// The flags of the file description are left alone: it is shared with whoever started us.
void Start(Format format, Level level, int fd = 1);

/// Writes out what is queued, for at most `timeout_ms`, and ends the writer thread. A thread that
/// sits in a write nobody reads is left behind.
void Stop(int timeout_ms);

void SetLevel(Level level);
Level GetLevel();
std::optional<Level> LevelFromName(std::string_view name);  // debug info warning error
std::string_view LevelName(Level level);

/// Records dropped because the reader of our output was too slow, plus repeats left out.
uint64_t SuppressedCount();
void CountSuppressed(uint64_t n);

/// "text" in double quotes with everything escaped that could break a line or a terminal: control
/// characters, quotes, backslashes, invalid UTF-8.
std::string Quoted(std::string_view text);

/// Write() for a number of fields known at run time only.
void WriteFields(Level level, std::string_view message, std::span<const Field> fields);

/// Never blocks. The message is one short lower-case clause; what varies goes into the fields.
void Write(Level level, std::string_view message, std::initializer_list<Field> fields = {});
inline void Debug(std::string_view m, std::initializer_list<Field> f = {}) {
  Write(Level::kDebug, m, f);
}
inline void Info(std::string_view m, std::initializer_list<Field> f = {}) {
  Write(Level::kInfo, m, f);
}
inline void Warning(std::string_view m, std::initializer_list<Field> f = {}) {
  Write(Level::kWarning, m, f);
}
inline void Error(std::string_view m, std::initializer_list<Field> f = {}) {
  Write(Level::kError, m, f);
}

}  // namespace nicmon::log
