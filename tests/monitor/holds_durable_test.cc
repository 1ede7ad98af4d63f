#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/holds_file.h"
#include "nicmon/monitor/holds_writer.h"
#include "testing/fake_clock.h"
#include "testing/log_capture.h"
#include "testing/temp_tree.h"
#include "testing/wait_for.h"

// Holds over restarts, on a real directory.
namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Result = Holds::Result;

constexpr PortKey kPort{1, 1};
const SeenDevice kDevice{1, "mlx5_0", {"0001:0000:0000:0001", "0000:01:00.0"}};
const SeenDevice kOther{1, "mlx5_0", {"0002:0000:0000:0002", "0000:01:00.0"}};

class HoldsDurable : public ::testing::Test {
 protected:
  HoldsDurable() { Start(); }

  /// A new process: whatever was not on disk is gone.
  void Start(const std::string& boot_id = "boot", bool see = true) {
    holds_.reset();
    directory_.reset();
    directory_ = std::make_shared<const StateDirectory>(tree_.root());
    HoldsHome home;
    home.file = std::make_shared<HoldsFile>(directory_);
    home.machine_id = "machine";
    home.boot_id = boot_id;
    home.id_series = id_series_;
    holds_ = std::make_shared<Holds>(clock_.clock(), home);
    if (see) {
      holds_->SeePresent({kDevice});
    }
  }
  Result Pause(Hold* hold, std::optional<WallTime> until = {}, std::string* why = nullptr) {
    return holds_->Pause(kPort, "mlx5_0", "bad cable", "ann", until, true, hold, why);
  }
  std::string HoldId() const {
    const auto state = holds_->snapshot();
    const Hold* hold = state->FindHold(kPort, clock_.wall());
    return hold != nullptr ? hold->id : "";
  }
  std::string File() const {
    std::ostringstream text;
    text << std::ifstream(tree_.Path("holds.json")).rdbuf();
    return text.str();
  }
  /// A directory where the temporary has to go: every write fails.
  void BreakDisk() const { tree_.Directory("holds.json.tmp"); }
  void MendDisk() const { tree_.Remove("holds.json.tmp"); }

  testing::TempTree tree_;
  testing::FakeClock clock_;
  std::string id_series_;
  std::shared_ptr<const StateDirectory> directory_;
  std::shared_ptr<Holds> holds_;
};

TEST_F(HoldsDurable, AHoldIsThereAfterARestartFromTheFirstMomentOn) {
  Hold hold;
  ASSERT_EQ(Pause(&hold, clock_.wall() + hours(2)), Result::kDone);
  EXPECT_EQ(holds_->snapshot()->InForce(clock_.wall()).at(0).hold->port, kPort);
  Start();
  const auto state = holds_->snapshot();
  const Hold* found = state->FindHold(kPort, clock_.wall());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, hold);
  clock_.Advance(hours(2));
  EXPECT_EQ(HoldId(), "") << "its time runs while nobody does";
  Start();
  EXPECT_EQ(holds_->Expire().size(), 1U);
  Hold next;
  Pause(&next);
  EXPECT_NE(next.id, hold.id);
}

TEST_F(HoldsDurable, AnIdComesToMeanNoOtherHoldWhenTheFileIsLostOrAnOlderOne) {
  std::set<std::string> ids;
  Hold hold;
  const auto pause = [&] {
    ASSERT_EQ(Pause(&hold), Result::kDone);
    EXPECT_TRUE(ids.insert(hold.id).second) << hold.id;
  };
  id_series_ = "one";
  Start();
  pause();
  EXPECT_EQ(hold.id, "hone-1");
  const std::string older = File();
  pause();
  tree_.Remove("holds.json");
  id_series_ = "two";
  Start();
  pause();
  tree_.File("holds.json", older);
  id_series_ = "three";
  Start();
  EXPECT_EQ(HoldId(), "hone-1") << "what is known keeps its id";
  pause();
  pause();
}

TEST_F(HoldsDurable, EveryDecisionIsOnDiskWhenTheCallReturns) {
  const auto written = [this](Result result) {
    EXPECT_EQ(result, Result::kDone);
    return File();
  };
  Hold hold;
  EXPECT_THAT(written(Pause(&hold)), HasSubstr("\"h1\""));
  EXPECT_THAT(written(holds_->Resume(kPort, "", &hold)), Not(HasSubstr("\"h1\"")));
  EXPECT_THAT(written(Pause(&hold)), HasSubstr("\"h2\""));
  EXPECT_THAT(written(holds_->Delete("h2", &hold)), Not(HasSubstr("\"h2\"")));
  EXPECT_THAT(
      written(holds_->SetRelease(1, {"upgrade", "", clock_.wall(), clock_.wall() + hours(1)})),
      HasSubstr("upgrade"));
  EXPECT_THAT(written(holds_->ClearRelease(1)), Not(HasSubstr("upgrade")));
  EXPECT_THAT(written(holds_->SetBaseline(kPort, 12345)), HasSubstr("12345"));
  EXPECT_THAT(written(holds_->Forget(kPort)), Not(HasSubstr("12345")));
}

TEST_F(HoldsDurable, WhatTheDiskDoesNotTakeChangesNothing) {
  Hold hold;
  ASSERT_EQ(Pause(&hold), Result::kDone);
  const std::string before = File();
  BreakDisk();
  std::string why;
  Hold other;
  EXPECT_EQ(Pause(&other, {}, &why), Result::kNotStored);
  EXPECT_THAT(why, HasSubstr("holds.json: EISDIR"));
  EXPECT_EQ(holds_->Resume(kPort, "", &other), Result::kNotStored);
  EXPECT_EQ(holds_->Delete(hold.id, &other), Result::kNotStored);
  EXPECT_EQ(holds_->SetBaseline(kPort, 5), Result::kNotStored);
  EXPECT_EQ(holds_->SetRelease(1, {"x", "", clock_.wall(), clock_.wall() + hours(1)}),
            Result::kNotStored);
  EXPECT_EQ(HoldId(), hold.id);
  EXPECT_EQ(holds_->snapshot()->FindRecord(kPort), nullptr);
  EXPECT_EQ(holds_->snapshot()->FindRelease(1, clock_.wall()), nullptr);
  EXPECT_EQ(holds_->snapshot()->pauses.at(kPort), 1U);
  EXPECT_FALSE(holds_->snapshot()->durable);
  EXPECT_EQ(File(), before);
  MendDisk();
  EXPECT_TRUE(holds_->Flush());
  EXPECT_TRUE(holds_->snapshot()->durable) << "without anybody's doing";
  EXPECT_EQ(Pause(&other), Result::kDone);
}

TEST_F(HoldsDurable, WhatDeviceThreadsTellIsOnDiskAfterAFlushAndNotWrittenTwice) {
  ASSERT_TRUE(holds_->Flush());
  holds_->NoteActive(kPort, 400);
  EXPECT_EQ(holds_->snapshot()->FindRecord(kPort)->baseline_bps, 400U);
  EXPECT_THAT(File(), Not(HasSubstr("400")));
  ASSERT_TRUE(holds_->Flush());
  EXPECT_THAT(File(), HasSubstr("400"));
  BreakDisk();
  holds_->NoteActive(kPort, 200);
  holds_->SeePresent({kDevice});
  EXPECT_TRUE(holds_->Flush()) << "there is nothing to write";
  MendDisk();
  Start();
  EXPECT_EQ(*holds_->snapshot()->FindRecord(kPort), (PortRecord{true, 400}));
}

TEST_F(HoldsDurable, TheWriterFlushesByItselfAndAtItsEnd) {
  HoldsWriter writer(holds_, std::chrono::milliseconds(1));
  writer.Start();
  holds_->NoteActive(kPort, 111);
  EXPECT_TRUE(testing::WaitFor([&] { return File().find("111") != std::string::npos; }));
  EXPECT_TRUE(writer.Stop(seconds(10)));
  HoldsWriter last(holds_, hours(1));
  last.Start();
  holds_->NoteActive(kPort, 222);
  EXPECT_TRUE(last.Stop(seconds(10)));
  EXPECT_THAT(File(), HasSubstr("222"));
}

TEST_F(HoldsDurable, AReaderAndADeviceThreadDoNotWaitForTheDisk) {
  ASSERT_TRUE(holds_->Flush());
  // Opening a FIFO for writing waits until somebody reads it: a disk that hangs.
  ASSERT_EQ(::mkfifo(tree_.Path("holds.json.tmp").c_str(), 0600), 0);
  Result result = Result::kDone;
  const auto before = holds_->snapshot();
  std::thread operator_thread([&] {
    Hold hold;
    result = Pause(&hold);
  });
  // Something is published just before the write, with the mutex held until the write is under way.
  ASSERT_TRUE(testing::WaitFor([&] { return holds_->snapshot() != before; }));
  holds_->NoteActive(kPort, 400);
  EXPECT_NE(holds_->snapshot()->FindRecord(kPort), nullptr);
  EXPECT_EQ(HoldId(), "") << "not before it is on disk";
  holds_->SeePresent({kDevice, {2, "mlx5_1", {"0003:0000:0000:0003", "0000:02:00.0"}}});
  EXPECT_NE(holds_->snapshot()->Find(2), nullptr);
  EXPECT_THAT(holds_->Expire(), IsEmpty());
  const UniqueFd reader(::open(tree_.Path("holds.json.tmp").c_str(), O_RDONLY));
  operator_thread.join();
  EXPECT_EQ(result, Result::kNotStored) << "nothing syncs a FIFO";
}

TEST_F(HoldsDurable, AReleaseEndsWithItsTimeReopenOrAReboot) {
  const auto released = [this] {
    return holds_->snapshot()->FindRelease(1, clock_.wall()) != nullptr;
  };
  const Release release{"upgrade", "ann", clock_.wall(), clock_.wall() + hours(1)};
  ASSERT_EQ(holds_->SetRelease(1, release), Result::kDone);
  Start();
  EXPECT_TRUE(released());
  Start("another boot");
  EXPECT_FALSE(released());
  std::vector<EndedRelease> ended = holds_->TakeEndedReleases();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].device, "mlx5_0");
  EXPECT_EQ(ended[0].release.reason, "upgrade");
  EXPECT_TRUE(ended[0].rebooted);
  EXPECT_THAT(holds_->TakeEndedReleases(), SizeIs(0));
  ASSERT_TRUE(holds_->Flush());
  Start();
  EXPECT_FALSE(released()) << "it has not come back";
  ASSERT_EQ(holds_->SetRelease(1, release), Result::kDone);
  Start("");
  EXPECT_TRUE(released()) << "nobody knows whether there was a reboot";
  clock_.Advance(hours(1));
  Start();
  EXPECT_FALSE(released());
  (void)holds_->Expire();
  ended = holds_->TakeEndedReleases();
  ASSERT_THAT(ended, SizeIs(1)) << "its time was over while nobody ran";
  EXPECT_FALSE(ended[0].rebooted);
  ASSERT_TRUE(holds_->Flush());
  EXPECT_THAT(File(), Not(HasSubstr("upgrade")));
}

TEST_F(HoldsDurable, AHoldOutlivesAReboot) {
  Hold hold;
  Pause(&hold);
  Start("another boot");
  EXPECT_EQ(HoldId(), hold.id);
}

TEST_F(HoldsDurable, OnlyWhatHasNotRunOutMeanwhileIsSaidToBeInForceAgain) {
  Hold hold;
  Pause(&hold, clock_.wall() + hours(1));
  for (const bool over : {false, true}) {
    testing::LogCapture capture;
    Start();
    EXPECT_THAT(capture.Records(),
                Contains(HasSubstr("hold is in force again")).Times(over ? 0 : 1));
    clock_.Advance(hours(1));
  }
}

TEST_F(HoldsDurable, AnOrphanIsDroppedByHandOrAfterThirtyDays) {
  Hold hold;
  Pause(&hold);
  Start("boot", false);
  testing::LogCapture capture;
  holds_->SeePresent({kOther});
  EXPECT_EQ(HoldId(), "");
  EXPECT_EQ(holds_->snapshot()->CountOrphaned(clock_.wall()), 1U);
  ASSERT_TRUE(holds_->Flush());
  clock_.Advance(hours(24 * 30 - 1));
  Start("boot", false);  // it is remembered since when
  holds_->SeePresent({kOther});
  (void)holds_->Expire();
  EXPECT_EQ(holds_->snapshot()->CountOrphaned(clock_.wall()), 1U);
  clock_.Advance(hours(1));
  EXPECT_THAT(holds_->Expire(), SizeIs(1));
  EXPECT_EQ(holds_->snapshot()->CountOrphaned(clock_.wall()), 0U);
  const auto records = capture.Records();
  EXPECT_THAT(records, Contains(HasSubstr("WARNING hold is orphaned")));
  EXPECT_THAT(records, Contains(HasSubstr("WARNING orphaned hold is given up after 30 days")));

  holds_->SeePresent({kDevice});
  Pause(&hold);
  holds_->SeePresent({kOther});
  Hold dropped;
  EXPECT_EQ(holds_->Delete(hold.id, &dropped), Result::kDone);
  EXPECT_EQ(holds_->snapshot()->CountOrphaned(clock_.wall()), 0U);
}

TEST_F(HoldsDurable, ABrokenFileIsKeptBesideAndDoesNotKeepUsFromStarting) {
  Hold hold;
  Pause(&hold);
  const std::string broken = File().substr(0, File().size() / 2);
  tree_.File("holds.json", broken);
  testing::LogCapture capture;
  Start();
  EXPECT_EQ(HoldId(), "");
  EXPECT_TRUE(holds_->snapshot()->lost);
  EXPECT_TRUE(holds_->Flush());
  EXPECT_EQ(File(), broken) << "in place until there is something new";
  Start();
  EXPECT_THAT(directory_->List("holds.json.broken-"), ::testing::SizeIs(1)) << "kept once";
  ASSERT_EQ(Pause(&hold), Result::kDone);
  Start();
  EXPECT_EQ(HoldId(), hold.id);
  EXPECT_TRUE(holds_->snapshot()->lost) << "until somebody has looked at it";
  const std::string copy = directory_->List("holds.json.broken-").at(0);
  EXPECT_EQ(directory_->Read(copy, 10000).text, broken);
  tree_.Remove(copy);
  holds_->CheckLost();
  EXPECT_FALSE(holds_->snapshot()->lost);
  EXPECT_THAT(capture.Records(),
              Contains(::testing::AllOf(HasSubstr("ERROR holds are lost"), HasSubstr(copy))));
}

TEST_F(HoldsDurable, WhatCanBeReadOfADamagedFileIsInForce) {
  Hold hold;
  Pause(&hold);
  std::string text = File();
  text.replace(text.find("null"), 4, "\"tomorrow\"");
  tree_.File("holds.json", text);
  Start();
  EXPECT_EQ(HoldId(), hold.id);
  EXPECT_TRUE(holds_->snapshot()->lost);
}

TEST_F(HoldsDurable, SomethingElseInThePlaceOfTheFileIsNoReasonToStop) {
  tree_.Directory("holds.json/x");
  Start();
  EXPECT_TRUE(holds_->snapshot()->lost);
  Hold hold;
  EXPECT_EQ(Pause(&hold), Result::kNotStored);
  EXPECT_TRUE(std::filesystem::exists(tree_.Path("holds.json/x")));
}

TEST_F(HoldsDurable, ADowngradeKeepsWhatItDoesNotKnow) {
  Hold hold;
  Pause(&hold);
  std::string text = File();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 2,\n  \"quorum\": {\"a\": 1}");
  text.replace(text.find("\"id\""), 4, "\"severity\": 3, \"id\"");
  tree_.File("holds.json", text);
  Start();
  EXPECT_FALSE(holds_->snapshot()->lost);
  EXPECT_EQ(HoldId(), hold.id);
  holds_->NoteActive(kPort, 5);
  ASSERT_TRUE(holds_->Flush());
  EXPECT_THAT(File(), HasSubstr("\"version\": 2"));
  EXPECT_THAT(File(), HasSubstr("\"quorum\": {"));
  EXPECT_THAT(File(), HasSubstr("\"severity\": 3"));
}

TEST_F(HoldsDurable, APortOfADeviceThatIsNotThereCanBeForgotten) {
  holds_->NoteActive(kPort, 400);
  ASSERT_TRUE(holds_->Flush());
  EXPECT_EQ(holds_->ForgetAbsent("mlx5_0", 1), Result::kNotFound) << "it is there";
  Start("boot", false);
  EXPECT_EQ(holds_->ForgetAbsent("mlx5_1", 1), Result::kNotFound);
  EXPECT_EQ(holds_->ForgetAbsent("mlx5_0", 2), Result::kNotFound);
  EXPECT_EQ(holds_->ForgetAbsent("0000:01:00.0", 1), Result::kDone);
  EXPECT_EQ(holds_->ForgetAbsent("mlx5_0", 1), Result::kNotFound);
  holds_->SeePresent({kDevice});
  EXPECT_EQ(holds_->snapshot()->FindRecord(kPort), nullptr);
}

TEST_F(HoldsDurable, ADeviceThatNothingTellsApartIsHeldInMemoryOnly) {
  holds_->SeePresent({{2, "a", {}}});
  Hold hold;
  EXPECT_EQ(holds_->Pause({2, 1}, "a", "bad cable", "ann", {}, false, &hold), Result::kDone);
  EXPECT_FALSE(holds_->snapshot()->Find(2)->key.durable());
  EXPECT_THAT(File(), Not(HasSubstr("bad cable")));
}

}  // namespace
}  // namespace nicmon
