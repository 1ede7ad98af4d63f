#include <sys/stat.h>

#include <thread>

#include "history/journal_fixture.h"

namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::WaitFor;

/// The same with a file and in memory.
class AnyJournal : public JournalTest, public ::testing::WithParamInterface<bool> {
 protected:
  AnyJournal() {
    if (!GetParam()) {
      options_.directory.clear();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(FileAndMemory, AnyJournal, ::testing::Bool());

TEST_P(AnyJournal, GivesBackAllThatItWasTold) {
  Start();
  EXPECT_EQ(journal_->durable(), GetParam());
  const WallTime time = clock_.wall() + std::chrono::nanoseconds(123'456'789);
  Tell({0, time, TransitionType::kHold, "mlx5_0", 2, "pause", "", "held", "bad \"cable\" µ", "ann",
        "", "h1", "2026-01-31T23:59:59.000Z", 0});
  Tell({0, time, TransitionType::kAudit, "mlx5_0", 2, "pause", "", "ok", "", "ann", "uid=0", "h1",
        "", 200, "h0 by bob"});
  Stop();
  const auto events = journal_->Query({}).events;
  ASSERT_EQ(events.size(), 1U);
  const Transition& hold = events[0];
  EXPECT_EQ(hold.seq, 1U);
  EXPECT_EQ(hold.time, time);
  EXPECT_EQ(hold.type, TransitionType::kHold);
  EXPECT_EQ(hold.device + hold.cause + hold.before + hold.after, "mlx5_0pauseheld");
  EXPECT_EQ(hold.port, 2U);
  EXPECT_EQ(hold.note, "bad \"cable\" µ");
  EXPECT_EQ(hold.by + hold.hold + hold.until, "annh12026-01-31T23:59:59.000Z");
  EventQuery query;
  query.audit = true;
  const auto audit = journal_->Query(query).events;
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].who, "uid=0");
  EXPECT_EQ(audit[0].status, 200);
  EXPECT_EQ(audit[0].replaced, "h0 by bob");
}

TEST_P(AnyJournal, AQueryHasAllThatWasRecordedBeforeIt) {
  Start();
  for (uint64_t i = 1; i <= 100; ++i) {
    TellMany(1);
    const auto events = journal_->Query({}).events;
    ASSERT_EQ(events.size(), i);
    EXPECT_EQ(events[0].seq, i);
  }
  Stop();
}

TEST_P(AnyJournal, PagesFollowTheCursorWithoutGapOrRepetition) {
  Start();
  TellMany(7);
  Stop();
  EventQuery query;
  query.limit = 3;
  std::vector<uint64_t> all;
  std::vector<size_t> sizes;
  for (;;) {
    const EventPage page = journal_->Query(query);
    sizes.push_back(page.events.size());
    for (const Transition& event : page.events) {
      all.push_back(event.seq);
    }
    if (!page.next) {
      break;
    }
    query.before_seq = page.next;
  }
  EXPECT_THAT(sizes, ElementsAre(3, 3, 1));
  EXPECT_THAT(all, ElementsAre(7, 6, 5, 4, 3, 2, 1));
  query.before_seq.reset();
  query.limit = 7;
  EXPECT_FALSE(journal_->Query(query).next) << "all on one page";
}

TEST_P(AnyJournal, EveryConditionCounts) {
  Start();
  Tell(Event("mlx5_0", 1));                          // 1
  Tell(Event("mlx5_0", 2));                          // 2
  Tell(Event("mlx5_1", 1, TransitionType::kSpeed));  // 3
  clock_.Advance(hours(1));
  Tell(Event("mlx5_1", 0, TransitionType::kDevice));  // 4
  Tell(Event("mlx5_0", 1, TransitionType::kAudit));   // 5
  Stop();
  EXPECT_THAT(Seqs({}), ElementsAre(4, 3, 2, 1));
  EventQuery query;
  query.device = "mlx5_0";
  EXPECT_THAT(Seqs(query), ElementsAre(2, 1));
  query.port = 1;
  EXPECT_THAT(Seqs(query), ElementsAre(1));
  query.audit = true;
  EXPECT_THAT(Seqs(query), ElementsAre(5));
  query = {};
  query.type = TransitionType::kSpeed;
  EXPECT_THAT(Seqs(query), ElementsAre(3));
  query = {};
  query.since = clock_.wall();
  EXPECT_THAT(Seqs(query), ElementsAre(4));
  query = {};
  query.before = clock_.wall();
  EXPECT_THAT(Seqs(query), ElementsAre(3, 2, 1));
  query.before_seq = 3;
  EXPECT_THAT(Seqs(query), ElementsAre(2, 1));
  query.device = "mlx5_9";
  EXPECT_THAT(Seqs(query), IsEmpty());
}

TEST_P(AnyJournal, TheAuditOfADeviceHasWhatWasDoneToAllOfThem) {
  Start();
  const auto tell = [this](std::string_view device, uint32_t port) {
    Tell(Event(std::string(device), port, TransitionType::kAudit));
  };
  tell("mlx5_0", 1);                         // 1
  tell("mlx5_0", 0);                         // 2
  tell(kAllDevices, 0);                      // 3
  tell("mlx5_1", 1);                         // 4
  tell("", 0);                               // 5, of the node: the log level
  Tell(Event(std::string(kAllDevices), 1));  // 6, a device that is called so
  Stop();
  EventQuery query;
  query.audit = true;
  EXPECT_THAT(Seqs(query), ElementsAre(5, 4, 3, 2, 1));
  query.device = "mlx5_0";
  EXPECT_THAT(Seqs(query), ElementsAre(3, 2, 1));
  query.port = 1;
  EXPECT_THAT(Seqs(query), ElementsAre(3, 2, 1));
  query.port = 2;
  EXPECT_THAT(Seqs(query), ElementsAre(3, 2));
  query.device.clear();
  EXPECT_THAT(Seqs(query), ElementsAre(3, 2));
  query.port.reset();
  query.device = kAllDevices;
  EXPECT_THAT(Seqs(query), ElementsAre(3));
  query = {};
  query.device = "mlx5_0";
  EXPECT_THAT(Seqs(query), IsEmpty());
}

TEST_P(AnyJournal, WhatFindsNoRoomIsCountedAndNobodyWaits) {
  options_.queue = 5;
  Open();  // nobody writes yet
  TellMany(8);
  EXPECT_EQ(journal_->dropped(), 3U);
  journal_->Start();
  Stop();
  EXPECT_EQ(Count(), 5U);
  TellMany(2);
  EXPECT_EQ(journal_->dropped(), 5U) << "nobody writes any more";
}

TEST_P(AnyJournal, TheListenerGetsEveryRecordInOrder) {
  Open();
  std::vector<uint64_t> heard;
  journal_->Subscribe([&](std::span<const Transition> events) {
    for (const Transition& event : events) {
      heard.push_back(event.seq);
    }
  });
  journal_->Start();
  TellMany(3);
  TellMany(1, TransitionType::kAudit);
  Stop();
  EXPECT_THAT(heard, ElementsAre(1, 2, 3, 4));
}

TEST_P(AnyJournal, KeepsTheNewestAndAuditApartFromTheRest) {
  options_.max_events = options_.memory_events = 100;
  options_.max_audit = options_.memory_audit = 10;
  Start();
  TellMany(15, TransitionType::kAudit);
  TellMany(500);
  Stop();
  journal_->Start();  // what is too much goes with the next look at the latest
  ASSERT_TRUE(WaitFor([&] { return Count() == 100 && Count(true) == 10; }));
  EXPECT_EQ(Newest(), 515U);
  EXPECT_EQ(Newest(true), 15U) << "no flapping port pushes out who did what";
  Stop();
}

TEST_F(JournalTest, OutlivesARestart) {
  Start();
  TellMany(3);
  Restart();
  TellMany(1);
  Stop();
  EXPECT_THAT(Seqs({}), ElementsAre(4, 3, 2, 1));
  struct stat file {};
  ASSERT_EQ(::stat(Path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07, 0U) << "not for everybody: it has names and reasons";
}

TEST_F(JournalTest, TrimsWhileItIsWrittenTo) {
  options_.max_events = 100;
  Start();
  for (int i = 1; i <= 20; ++i) {
    TellMany(50);
    ASSERT_TRUE(WaitFor([&] { return Newest() == static_cast<uint64_t>(i) * 50; }));
  }
  EXPECT_LT(Count(), 160U);
  Stop();
}

TEST_F(JournalTest, ForgetsWhatIsTooOld) {
  options_.max_age = hours(24);
  Start();
  TellMany(2);
  clock_.Advance(hours(23));
  TellMany(1);
  clock_.Advance(hours(2));
  Restart();
  ASSERT_TRUE(WaitFor([&] { return Count() == 1; }));
  Stop();
}

TEST_F(JournalTest, ReadersAndWritersDoNotWaitForEachOther) {
  options_.queue = 100'000;
  Start();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { TellMany(1000); });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        EXPECT_FALSE(journal_->Query({}).failed);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Stop();
  EXPECT_EQ(Count(), 4000U);
  EXPECT_EQ(journal_->dropped(), 0U);
}

TEST_F(JournalTest, ARecorderMayOutliveTheJournal) {
  Start();
  const RecordTransition record = journal_->recorder();
  Stop();
  journal_.reset();
  record(Event());
}

}  // namespace
}  // namespace nicmon
