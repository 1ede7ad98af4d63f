#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "history/journal_fixture.h"
#include "testing/log_capture.h"

// What the journal does when its file is not what it was, or cannot be written.
namespace nicmon {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LogCapture;
using testing::WaitFor;

/// The first opening of a database meanwhile lasts until `overtaken()`, or for as long as a writer
/// that does not wait for it would need many times over.
class SlowOpening {
 public:
  explicit SlowOpening(std::function<bool()> overtaken)
      : usual_(sqlite3_vfs_find(nullptr)), slow_(*usual_), is_overtaken_(std::move(overtaken)) {
    current_ = this;
    slow_.zName = "slow";
    slow_.xOpen = Open;
    sqlite3_vfs_register(&slow_, 1);
  }
  ~SlowOpening() {
    sqlite3_vfs_unregister(&slow_);
    sqlite3_vfs_register(usual_, 1);
  }
  SlowOpening(const SlowOpening&) = delete;
  SlowOpening& operator=(const SlowOpening&) = delete;

  bool begun() const { return begun_; }
  bool overtaken() const { return overtaken_; }

 private:
  static int Open(sqlite3_vfs* /*slow*/, const char* name, sqlite3_file* file, int flags,
                  int* out_flags) {
    SlowOpening& self = *current_;
    const int result = self.usual_->xOpen(self.usual_, name, file, flags, out_flags);
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0 && !self.begun_.exchange(true)) {
      self.overtaken_ = WaitFor(self.is_overtaken_, std::chrono::seconds(1));
    }
    return result;
  }

  static inline SlowOpening* current_ = nullptr;
  sqlite3_vfs* usual_;
  sqlite3_vfs slow_;
  std::function<bool()> is_overtaken_;
  std::atomic<bool> begun_ = false;
  std::atomic<bool> overtaken_ = false;
};

class DamageTest : public JournalTest {
 protected:
  /// A history with some hundred records and no log beside it.
  void Fill() {
    Start();
    TellMany(500);
    Close();
  }
  /// Until nobody has the file open: a thread of the journal may outlive it.
  void Close() {
    Stop();
    journal_.reset();
    ASSERT_TRUE(WaitFor([&] { return !std::filesystem::exists(Path("history.db-wal")); }))
        << "the last connection folds the log into the file";
  }
  void Overwrite(std::streamoff at, size_t size) const {
    std::fstream file(Path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << std::string(size, 'x');
  }
  void ExpectStartedAnew() {
    TellMany(1);
    ASSERT_TRUE(WaitFor([&] { return Count() == 1; }))
        << Count() << " records, " << journal_->dropped() << " dropped, "
        << ::testing::PrintToString(log_.Records());
    Stop();
    EXPECT_EQ(journal_->dropped(), 0U);
    EXPECT_TRUE(journal_->durable());
    EXPECT_TRUE(std::filesystem::exists(Path("history.db.damaged")));
    EXPECT_THAT(log_.Records(), Contains(HasSubstr("history is damaged")));
  }
  int Run(const char* sql) {
    sqlite3* db = nullptr;
    int result = ::sqlite3_open(Path().c_str(), &db);
    ::sqlite3_busy_timeout(db, 10'000);  // until the journal has closed it
    result = result == SQLITE_OK ? ::sqlite3_exec(db, sql, nullptr, nullptr, nullptr) : result;
    ::sqlite3_close(db);
    return result;
  }

  LogCapture log_;
};

TEST_F(DamageTest, AFileThatIsNoDatabaseIsMovedAside) {
  tree_.File("history.db", std::string(100'000, 'x'));
  Start();
  ExpectStartedAnew();
}

TEST_F(DamageTest, AFileThatWasCutOffIsMovedAside) {
  Fill();
  std::filesystem::resize_file(Path(), 5000);
  Start();
  ExpectStartedAnew();
}

TEST_F(DamageTest, ADamagedPageIsFoundAtTheStart) {
  Fill();
  // Beyond the schema: opening does not see it, and a query for other rows might not either.
  Overwrite(4 * 4096, 2 * 4096);
  Start();
  ExpectStartedAnew();
}

TEST_F(DamageTest, NothingIsMovedAsideUnderAReader) {
  Fill();
  Overwrite(4 * 4096, 2 * 4096);
  Open();
  const SlowOpening opening([&] { return std::filesystem::exists(Path("history.db.damaged")); });
  std::thread reader([&] { (void)Count(); });
  EXPECT_TRUE(WaitFor([&] { return opening.begun(); }));
  journal_->Start();
  reader.join();
  EXPECT_FALSE(opening.overtaken());
  TellMany(1);
  EXPECT_TRUE(WaitFor([&] { return Count() == 1; })) << Count() << " records";
  Close();  // before `opening` goes, which its connections use
}

TEST_F(DamageTest, ReadersWithoutEndDoNotKeepTheWriterWaiting) {
  Fill();
  Overwrite(4 * 4096, 2 * 4096);
  Open();
  std::atomic<bool> over = false;
  std::vector<std::thread> readers(3);
  for (std::thread& reader : readers) {
    reader = std::thread([&] {
      while (!over) {
        (void)Count();
      }
    });
  }
  journal_->Start();
  TellMany(1);
  EXPECT_TRUE(WaitFor([&] { return Count() == 1; })) << Count() << " records";
  over = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  Stop();
  EXPECT_EQ(journal_->dropped(), 0U);
}

TEST_F(DamageTest, AFileOfALaterVersionIsMovedAside) {
  Fill();
  ASSERT_EQ(Run("PRAGMA user_version=99"), SQLITE_OK);
  Start();
  ExpectStartedAnew();
}

TEST_F(DamageTest, AFileWithoutALaterColumnGetsItAndKeepsItsRecords) {
  Fill();
  ASSERT_EQ(Run("ALTER TABLE events DROP COLUMN replaced"), SQLITE_OK);
  Start();
  EXPECT_EQ(Count(), 500U);
  EXPECT_FALSE(std::filesystem::exists(Path("history.db.damaged")));
  Transition audit = Event("mlx5_0", 1, TransitionType::kAudit);
  audit.replaced = "h1 by ann";
  Tell(audit);
  Stop();
  EventQuery query;
  query.audit = true;
  ASSERT_EQ(journal_->Query(query).events.size(), 1U);
  EXPECT_EQ(journal_->Query(query).events[0].replaced, "h1 by ann");
}

TEST_F(DamageTest, AnotherTableOfThatNameIsMovedAside) {
  Fill();
  ASSERT_EQ(Run("DROP TABLE events; CREATE TABLE events (seq)"), SQLITE_OK);
  Start();
  ExpectStartedAnew();
}

TEST_F(DamageTest, DamageWhileItRunsIsFoundByWhoReads) {
  Start();
  TellMany(500);
  ASSERT_TRUE(WaitFor([&] { return Count() == 500; }));
  // Checkpointed, so that the file is what is read.
  ASSERT_EQ(Run("PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
  Overwrite(0, std::filesystem::file_size(Path()));
  ASSERT_TRUE(WaitFor([&] { return !journal_->Query({}).failed; }))
      << "the journal begins a new one without being told anything";
  TellMany(1);
  ASSERT_TRUE(WaitFor([&] { return Seqs({}) == std::vector<uint64_t>{501}; }));
  Stop();
  EXPECT_TRUE(std::filesystem::exists(Path("history.db.damaged")));
}

TEST_F(DamageTest, DamageWhileItRunsIsFoundByWhoWrites) {
  Start();
  TellMany(500);
  ASSERT_TRUE(WaitFor([&] { return Count() == 500; }));
  ASSERT_EQ(Run("PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
  Overwrite(0, std::filesystem::file_size(Path()));
  ASSERT_TRUE(WaitFor([&] {
    TellMany(1);
    return std::filesystem::exists(Path("history.db.damaged"));
  }));
  TellMany(1);
  ASSERT_TRUE(WaitFor([&] { return Newest() > 500; }));
  Stop();
}

TEST_F(DamageTest, AnUnusableDirectoryMeansMemoryAndOneWarning) {
  options_.directory = Path("missing/directory");
  Start();
  TellMany(2);
  Stop();
  EXPECT_FALSE(journal_->durable());
  EXPECT_THAT(Seqs({}), ElementsAre(2, 1));
  EXPECT_THAT(log_.Records(), ElementsAre(AllOf(HasSubstr("history is kept in memory only"),
                                                HasSubstr("missing/directory/history.db"))));
}

TEST_F(DamageTest, WhatCannotBeWrittenIsCountedAndToldOnce) {
  Start();
  TellMany(1);
  ASSERT_TRUE(WaitFor([&] { return Count() == 1; }));
  sqlite3* other = nullptr;
  ASSERT_EQ(::sqlite3_open(Path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(::sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  TellMany(1);
  ASSERT_TRUE(WaitFor([&] { return journal_->dropped() == 1; }));
  EXPECT_EQ(Count(), 1U) << "reading goes on";
  TellMany(1);
  ASSERT_TRUE(WaitFor([&] { return journal_->dropped() == 2; }));
  ::sqlite3_close(other);
  TellMany(1);
  ASSERT_TRUE(WaitFor([&] { return Count() == 2; }));
  Stop();
  EXPECT_EQ(journal_->dropped(), 2U);
  EXPECT_THAT(log_.Records(), ElementsAre(HasSubstr("history cannot be written"),
                                          HasSubstr("history is written again")));
}

}  // namespace
}  // namespace nicmon
