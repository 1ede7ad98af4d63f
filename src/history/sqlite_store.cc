#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "history/database.h"
#include "history/event_rows.h"
#include "history/event_store.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon {
namespace {

constexpr int kWriterWaitMs = 1000;  // for another program that has the file locked
constexpr int kReaderWaitMs = 500;
constexpr int64_t kVersion = 1;  // of the schema

// synchronous=NORMAL: a lost power supply may cost the last records, a killed process none. What
// must not be lost (holds) is not kept here.
constexpr char kSetUp[] =
    "PRAGMA synchronous=NORMAL; PRAGMA cache_size=-512; PRAGMA journal_size_limit=4194304;"
    "PRAGMA temp_store=MEMORY;";
constexpr char kSchema[] =
    "CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
    " type TEXT NOT NULL, device TEXT, port INTEGER, cause TEXT, before TEXT, after TEXT,"
    " note TEXT, by TEXT, who TEXT, hold TEXT, until TEXT, status INTEGER, replaced TEXT);"
    "CREATE INDEX IF NOT EXISTS events_device ON events(device);"
    "CREATE INDEX IF NOT EXISTS events_type ON events(type);"
    "PRAGMA user_version=1;";

/// Adds what the first histories of this version did not have. Whoever only knows those reads and
/// writes the other columns by their names. What is no such table shows when it is used.
int AddColumns(Database& database) {
  constexpr char kFind[] = "SELECT count(*) FROM pragma_table_info('events') WHERE name='replaced'";
  if (database.Number(kFind) != 0) {
    return SQLITE_OK;
  }
  const int result = database.Execute("ALTER TABLE events ADD COLUMN replaced TEXT");
  return result == SQLITE_ERROR ? SQLITE_OK : result;
}

bool IsDamage(int result) {
  const int primary = result & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

class SqliteStore : public EventStore {
 public:
  SqliteStore(const JournalOptions& options, const Clock& clock)
      : path_(options.directory + "/history.db"),
        max_events_(static_cast<int64_t>(options.max_events)),
        max_audit_(static_cast<int64_t>(options.max_audit)),
        max_age_(options.max_age),
        clock_(clock) {}

  /// Empty, or why there can be no history here.
  std::string Open() {
    std::string error;
    if (TryOpen(&error) || (damaged_ && MoveAside(error) && TryOpen(&error))) {
      return "";
    }
    return error;
  }

  void Prepare() override {
    const std::string check = writer_.Text("PRAGMA quick_check(1)");
    if (check != "ok") {
      StartAnew(check.empty() ? writer_.error() : check);
    }
  }

  bool Append(std::span<const Transition> events) override {
    int result = Insert(events);
    if (IsDamage(result) && StartAnew(writer_.error())) {
      result = Insert(events);
    }
    if (result != SQLITE_OK) {
      return false;
    }
    since_trim_ += static_cast<int64_t>(events.size());
    if (since_trim_ > max_events_ / 100) {
      TrimRows();
    }
    return true;
  }

  void Trim() override {
    Statement statement;
    if (statement.Prepare(writer_, "DELETE FROM events WHERE time < ?1") == SQLITE_OK) {
      statement.Bind(1, Nanoseconds(clock_.wall() - max_age_));
      statement.Step();
    }
    TrimRows();
  }

  EventPage Query(const EventQuery& query) const override {
    EventPage page;
    page.failed = true;
    const std::shared_lock<std::shared_mutex> open = KeepInPlace();  // outlives the connection
    Database reader;
    Statement select;
    // Read and write: a reader of a WAL takes part in its index.
    if (reader.Open(path_, SQLITE_OPEN_READWRITE, kReaderWaitMs) != SQLITE_OK ||
        reader.Execute("PRAGMA query_only=1; PRAGMA cache_size=-512") != SQLITE_OK ||
        PrepareSelect(reader, query, &select) != SQLITE_OK) {
      return page;
    }
    int result = SQLITE_ROW;
    while ((result = select.Step()) == SQLITE_ROW) {
      if (page.events.size() == query.limit) {
        page.next = page.events.back().seq;
      } else {
        page.events.push_back(RowOf(select));
      }
    }
    page.failed = result != SQLITE_DONE;
    return page;
  }

  uint64_t last_seq() const override { return last_seq_; }
  bool durable() const override { return true; }

 private:
  bool TryOpen(std::string* error) {
    damaged_ = false;
    // By us and not by SQLite, which makes files that everybody can read.
    const UniqueFd file(
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));  // NOLINT: open's own varargs
    if (!file) {
      *error = path_ + ": " + ErrnoText(errno);
      return false;
    }
    int result = writer_.Open(path_, SQLITE_OPEN_READWRITE, kWriterWaitMs);
    if (result == SQLITE_OK) {
      result = writer_.Execute("PRAGMA journal_mode=WAL");
    }
    if (result == SQLITE_OK) {
      result = writer_.Execute(kSetUp);
    }
    const int64_t version = writer_.Number("PRAGMA user_version");
    if (result == SQLITE_OK && version == 0) {
      result = writer_.Execute(kSchema);
    } else if (result == SQLITE_OK && version == kVersion) {
      result = AddColumns(writer_);
    }
    if (result == SQLITE_OK &&
        (version > kVersion || PrepareInsert(writer_, &insert_) != SQLITE_OK)) {
      *error = path_ + ": not a history of this version";
      damaged_ = true;
      return false;
    }
    damaged_ = IsDamage(result);
    *error = path_ + ": " + writer_.error();
    if (result != SQLITE_OK) {
      return false;
    }
    last_seq_ = static_cast<uint64_t>(writer_.Number("SELECT max(seq) FROM events"));
    return true;
  }

  std::shared_lock<std::shared_mutex> KeepInPlace() const {
    const std::lock_guard turn(turn_);
    return std::shared_lock(readers_);
  }

  /// Only one is kept: what is damaged must not fill the disk.
  bool MoveAside(const std::string& why) {
    insert_ = {};
    writer_.Close();
    // SQLite finds the log and its index by name: a reader of the old file would take the new
    // file's for its own, and cut the index short that the writer has mapped.
    const std::lock_guard no_more(turn_);
    const std::unique_lock none_open(readers_);
    const std::string aside = path_ + ".damaged";
    std::error_code ignored;
    std::filesystem::rename(path_ + "-wal", aside + "-wal", ignored);
    std::filesystem::remove(path_ + "-shm", ignored);
    std::error_code error;
    std::filesystem::rename(path_, aside, error);
    log::Error("history is damaged, a new one is begun",
               {{"reason", why}, {"kept_as", error ? "" : aside}});
    return !error;
  }

  bool StartAnew(const std::string& why) {
    std::string error;
    if (MoveAside(why) && TryOpen(&error)) {
      return true;
    }
    log::Error("history cannot be kept", {{"reason", error}});
    return false;
  }

  int Insert(std::span<const Transition> events) {
    if (!insert_) {
      return SQLITE_ERROR;  // it could not be opened again after it was damaged
    }
    int result = writer_.Execute("BEGIN IMMEDIATE");
    if (result != SQLITE_OK) {
      return Failed(result);
    }
    for (const Transition& event : events) {
      BindRow(insert_, event);
      result = insert_.Step();
      insert_.Reset();
      if (result != SQLITE_DONE) {
        const int failed = Failed(result);
        writer_.Execute("ROLLBACK");
        return failed;
      }
    }
    result = writer_.Execute("COMMIT");
    if (result != SQLITE_OK) {
      Failed(result);
      writer_.Execute("ROLLBACK");
      return result;
    }
    if (std::exchange(failing_, false)) {
      log::Info("history is written again", {{"path", path_}});
    }
    return SQLITE_OK;
  }

  int Failed(int result) {
    if (!std::exchange(failing_, true)) {
      log::Warning("history cannot be written, its records are lost",
                   {{"path", path_}, {"reason", writer_.error()}});
    }
    return result;
  }

  void TrimRows() {
    since_trim_ = 0;
    for (const auto& [is, keep] :
         {std::pair("= 'audit'", max_audit_), {"<> 'audit'", max_events_}}) {
      const std::string of = std::string(" FROM events WHERE type ") + is;
      Statement statement;
      if (statement.Prepare(writer_, "DELETE" + of + " AND seq <= (SELECT seq" + of +
                                         " ORDER BY seq DESC LIMIT 1 OFFSET ?1)") == SQLITE_OK) {
        statement.Bind(1, keep);
        statement.Step();
      }
    }
  }

  const std::string path_;
  const int64_t max_events_;
  const int64_t max_audit_;
  const Duration max_age_;
  const Clock clock_;
  Database writer_;
  Statement insert_;
  /// Shared by each reader for as long as it has the file open: while it is moved aside, none has.
  mutable std::shared_mutex readers_;
  /// Passed by each reader that comes: a shared_mutex alone lets readers in for as long as there
  /// are any, and the writer would wait for ever.
  mutable std::mutex turn_;
  uint64_t last_seq_ = 0;
  int64_t since_trim_ = 0;
  bool damaged_ = false;
  bool failing_ = false;
};

}  // namespace

std::unique_ptr<EventStore> OpenSqliteStore(const JournalOptions& options, const Clock& clock,
                                            std::string* error) {
  auto store = std::make_unique<SqliteStore>(options, clock);
  *error = store->Open();
  return error->empty() ? std::move(store) : nullptr;
}

}  // namespace nicmon
