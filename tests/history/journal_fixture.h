#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "nicmon/history/journal.h"
#include "testing/fake_clock.h"
#include "testing/temp_tree.h"
#include "testing/wait_for.h"

namespace nicmon {

/// A journal in a directory of its own. Stop() writes all that was told.
class JournalTest : public ::testing::Test {
 protected:
  JournalTest() { options_.directory = tree_.root(); }

  void Open() { journal_ = std::make_unique<Journal>(options_, clock_.clock()); }
  void Start() {
    Open();
    journal_->Start();
  }
  void Stop() { EXPECT_TRUE(journal_->Stop(std::chrono::seconds(30))); }
  void Restart() {
    Stop();
    Start();
  }

  Transition Event(const std::string& device = "mlx5_0", uint32_t port = 1,
                   TransitionType type = TransitionType::kLink) const {
    Transition event;
    event.time = clock_.wall();
    event.type = type;
    event.device = device;
    event.port = port;
    event.cause = "event";
    return event;
  }
  void Tell(const Transition& event) const { journal_->recorder()(event); }
  void TellMany(size_t count, TransitionType type = TransitionType::kLink) const {
    for (size_t i = 0; i < count; ++i) {
      Tell(Event("mlx5_0", 1, type));
    }
  }
  std::vector<uint64_t> Seqs(const EventQuery& query) const {
    std::vector<uint64_t> seqs;
    for (const Transition& event : journal_->Query(query).events) {
      seqs.push_back(event.seq);
    }
    return seqs;
  }
  /// 0: there is none.
  uint64_t Newest(bool audit = false) const {
    EventQuery query;
    query.audit = audit;
    const std::vector<uint64_t> seqs = Seqs(query);
    return seqs.empty() ? 0 : seqs.front();
  }
  size_t Count(bool audit = false) const {
    EventQuery query;
    query.audit = audit;
    query.limit = 1'000'000;
    return journal_->Query(query).events.size();
  }
  std::string Path(const std::string& name = "history.db") const {
    return tree_.Path(name).string();
  }

  testing::TempTree tree_;
  testing::FakeClock clock_;
  JournalOptions options_;
  std::unique_ptr<Journal> journal_;
};

}  // namespace nicmon
