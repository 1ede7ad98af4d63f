#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nicmon {

/// A connection to an SQLite database, used by one thread at a time. Functions that return int
/// return SQLite's result codes.
class Database {
 public:
  /// `flags` as for sqlite3_open_v2. A lock that another connection holds is waited for at most
  /// `busy_ms`.
  int Open(const std::string& path, int flags, int busy_ms);
  void Close() { db_.reset(); }
  /// One or more statements whose results do not matter.
  int Execute(const char* sql);
  /// The first column of the first row, 0 when there is none or on failure.
  int64_t Number(const char* sql);
  std::string Text(const char* sql);
  std::string error() const;
  sqlite3* get() const { return db_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* db) const { ::sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Closer> db_;
};

/// A prepared statement. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement() = default;
  /// False where SQLite does not take it.
  explicit operator bool() const { return statement_ != nullptr; }
  int Prepare(const Database& database, const std::string& sql);
  void Bind(int parameter, int64_t value);
  /// Copied: `text` may go before the step.
  void Bind(int parameter, std::string_view text);
  int Step() { return ::sqlite3_step(statement_.get()); }
  void Reset() { ::sqlite3_reset(statement_.get()); }
  int64_t Number(int column) const { return ::sqlite3_column_int64(statement_.get(), column); }
  std::string Text(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

}  // namespace nicmon
