#include "history/database.h"

namespace nicmon {

int Database::Open(const std::string& path, int flags, int busy_ms) {
  sqlite3* db = nullptr;
  const int result = ::sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);  // also after a failure, for its text
  if (result == SQLITE_OK) {
    ::sqlite3_busy_timeout(db, busy_ms);
  }
  return result;
}

int Database::Execute(const char* sql) {
  return ::sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
}

int64_t Database::Number(const char* sql) {
  Statement statement;
  return statement.Prepare(*this, sql) == SQLITE_OK && statement.Step() == SQLITE_ROW
             ? statement.Number(0)
             : 0;
}

std::string Database::Text(const char* sql) {
  Statement statement;
  return statement.Prepare(*this, sql) == SQLITE_OK && statement.Step() == SQLITE_ROW
             ? statement.Text(0)
             : "";
}

std::string Database::error() const {
  return db_ ? ::sqlite3_errmsg(db_.get()) : "out of memory";
}

int Statement::Prepare(const Database& database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = ::sqlite3_prepare_v2(database.get(), sql.c_str(), static_cast<int>(sql.size()),
                                          &statement, nullptr);
  statement_.reset(statement);
  return result;
}

void Statement::Bind(int parameter, int64_t value) {
  ::sqlite3_bind_int64(statement_.get(), parameter, value);
}

void Statement::Bind(int parameter, std::string_view text) {
  ::sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
}

std::string Statement::Text(int column) const {
  const unsigned char* text = ::sqlite3_column_text(statement_.get(), column);
  const int size = ::sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr
             ? std::string()
             : std::string(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
}

}  // namespace nicmon
