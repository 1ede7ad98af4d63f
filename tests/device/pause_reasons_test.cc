#include "nicmon/device/pause_reasons.h"

#include <gtest/gtest.h>

namespace nicmon {
namespace {

TEST(PauseReasons, AnswersWhetherItChanged) {
  PauseReasons pauses;
  EXPECT_FALSE(pauses.paused());
  EXPECT_EQ(pauses.Clear(PauseReason::kLink), PauseChange::kAlready);
  EXPECT_EQ(pauses.Set(PauseReason::kLink), PauseChange::kChanged);
  EXPECT_EQ(pauses.Set(PauseReason::kLink), PauseChange::kAlready);
  EXPECT_TRUE(pauses.paused());
  EXPECT_EQ(pauses.Clear(PauseReason::kLink), PauseChange::kChanged);
  EXPECT_FALSE(pauses.paused());
}

TEST(PauseReasons, ReasonsAreIndependent) {
  for (const PauseReason one : kPauseReasons) {
    PauseReasons pauses;
    pauses.Set(one);
    for (const PauseReason other : kPauseReasons) {
      EXPECT_EQ(pauses.Has(other), one == other);
    }
    for (const PauseReason other : kPauseReasons) {
      pauses.Set(other);
    }
    pauses.Clear(one);
    EXPECT_FALSE(pauses.Has(one));
    EXPECT_TRUE(pauses.paused());
  }
}

TEST(PauseReasons, AnInertSlotRejectsAndStartsAfresh) {
  PauseReasons pauses;
  pauses.Set(PauseReason::kAdmin);
  pauses.SetInert(true);
  EXPECT_TRUE(pauses.inert());
  EXPECT_FALSE(pauses.paused());
  EXPECT_EQ(pauses.Set(PauseReason::kLink), PauseChange::kRejected);
  EXPECT_EQ(pauses.Clear(PauseReason::kLink), PauseChange::kRejected);
  EXPECT_FALSE(pauses.paused());
  pauses.SetInert(false);
  EXPECT_FALSE(pauses.paused());
  pauses.Set(PauseReason::kLink);
  pauses.SetInert(false);  // live already: keeps its reasons
  EXPECT_TRUE(pauses.Has(PauseReason::kLink));
}

TEST(PauseReasons, Names) {
  EXPECT_EQ(PauseReasonName(PauseReason::kLink), "link");
  EXPECT_EQ(PauseReasonName(PauseReason::kAdmin), "admin");
  EXPECT_EQ(PauseReasonName(PauseReason::kFatal), "fatal");
  EXPECT_EQ(PauseReasonName(PauseReason::kSettling), "settling");
  EXPECT_EQ(PauseReasonName(PauseReason::kReleased), "released");
}

}  // namespace
}  // namespace nicmon
