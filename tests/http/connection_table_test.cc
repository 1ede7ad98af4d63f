#include "http/connection_table.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "nicmon/base/unique_fd.h"
#include "testing/fake_clock.h"

namespace nicmon::http {
namespace {

using std::chrono::seconds;
using State = ConnectionTable::State;

/// One end stands in the table; whether it was shut down shows at the other.
class Link {
 public:
  Link() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    ours_ = UniqueFd(fds[0]);
    theirs_ = UniqueFd(fds[1]);
  }
  int fd() const { return ours_.get(); }
  bool shut() const {
    char byte = 0;
    return ::recv(theirs_.get(), &byte, 1, MSG_PEEK) == 0;
  }

 private:
  UniqueFd ours_;
  UniqueFd theirs_;
};

class ConnectionTableTest : public ::testing::Test {
 protected:
  uint64_t Admit(const Link& link) {
    bool evicted = false;
    const auto id = table_.Admit(link.fd(), &evicted);
    EXPECT_TRUE(id && !evicted);
    return id.value_or(0);
  }

  nicmon::testing::FakeClock fake_;
  const Clock clock_ = fake_.clock();
  ConnectionTable table_{8, clock_};
  Link early_, late_;
};

// Its thread may start late; a kept connection that was answered in the meantime must not go first.
TEST_F(ConnectionTableTest, ANewConnectionWaitsFromItsAdmission) {
  const uint64_t early = Admit(early_);
  fake_.Advance(seconds(1));
  const uint64_t late = Admit(late_);
  fake_.Advance(seconds(1));
  EXPECT_TRUE(table_.SetState(late, State::kHandling));
  EXPECT_TRUE(table_.SetState(late, State::kWaiting));
  fake_.Advance(seconds(1));
  EXPECT_TRUE(table_.SetState(early, State::kWaiting));
  EXPECT_TRUE(table_.EvictOne());
  EXPECT_TRUE(early_.shut());
  EXPECT_FALSE(late_.shut());
  EXPECT_FALSE(table_.SetState(early, State::kWaiting)) << "it is told";
}

TEST_F(ConnectionTableTest, ARequestThatIsBeingAnsweredIsNeverEnded) {
  const uint64_t early = Admit(early_);
  const uint64_t late = Admit(late_);
  EXPECT_TRUE(table_.SetState(early, State::kHandling));
  EXPECT_TRUE(table_.SetState(late, State::kHandling));
  EXPECT_FALSE(table_.EvictOne());
  EXPECT_TRUE(table_.SetState(late, State::kWriting));
  EXPECT_TRUE(table_.EvictOne()) << "a client that is slow to take its reply can go";
  EXPECT_FALSE(early_.shut());
  EXPECT_TRUE(late_.shut());
}

}  // namespace
}  // namespace nicmon::http
