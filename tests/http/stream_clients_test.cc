#include <thread>

#include "http/stream_fixture.h"
#include "testing/stopwatch.h"
#include "testing/wait_for.h"

// Clients of the stream: how many, how slow, how they end.
namespace nicmon::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

TEST_F(StreamTest, SilenceIsBrokenByComments) {
  options_.stream.refresh = milliseconds(5);
  options_.stream.keep_alive = milliseconds(20);
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  EXPECT_EQ(source.Next().name, "comment");
  EXPECT_EQ(source.Next().name, "comment");
}

TEST_F(StreamTest, NoMoreClientsThanMayBe) {
  options_.stream.max_clients = 2;
  StartAndListen();
  auto first = std::make_unique<EventSource>(tcp());
  first->Begin();
  EventSource second(admin());
  second.Begin();
  EXPECT_EQ(Clients(), 2);
  const RawReply reply = Get("/api/v1/stream");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.count("retry-after"), 1U);
  EXPECT_NE(reply.body.find("too_many_streams"), std::string::npos);
  EXPECT_EQ(stats_->Read().rejected["connection_limit"], 1U);
  first.reset();
  ASSERT_TRUE(WaitFor([&] { return Clients() == 1; })) << "who leaves is noticed";
  EventSource third(tcp());
  EXPECT_EQ(third.Begin().name, "snapshot");
}

TEST_F(StreamTest, AClientThatDoesNotReadIsDroppedAndHoldsNobody) {
  options_.stream.backlog_bytes = 256 * 1024;
  options_.write_timeout = milliseconds(200);
  StartAndListen();
  EventSource slow(tcp());
  slow.Begin();
  EventSource quick(tcp());
  quick.Begin();
  Transition record = Record(0, TransitionType::kLink);
  record.note = std::string(20'000, 'x');
  // Far more than the kernel keeps for both ends of a connection.
  constexpr uint64_t kRecords = 1000;
  for (record.seq = 1; record.seq <= kRecords; ++record.seq) {
    Tell({record});
    ASSERT_EQ(quick.Next().id, std::to_string(record.seq));
  }
  ASSERT_TRUE(WaitFor([&] { return Clients() == 1; }));
  EXPECT_EQ(stats_->Read().rejected["timeout"], 1U);
  EXPECT_TRUE(slow.WaitClosed());
  Tell({Record(kRecords + 1, TransitionType::kLink)});
  EXPECT_EQ(quick.Next().id, std::to_string(kRecords + 1));
}

TEST_F(StreamTest, TwentyClientsGetEveryRecordInOrder) {
  StartAndListen();
  constexpr int kClients = 20;
  constexpr uint64_t kFlaps = 1000;
  std::vector<std::unique_ptr<EventSource>> sources;
  for (int i = 0; i < kClients; ++i) {
    sources.push_back(std::make_unique<EventSource>(i % 2 == 0 ? tcp() : admin()));
    ASSERT_EQ(sources.back()->Begin().name, "snapshot");
  }
  std::vector<std::thread> threads;
  std::vector<uint64_t> got(kClients);
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t seq = 1; seq <= 2 * kFlaps; ++seq) {
        if (sources[static_cast<size_t>(i)]->Next().id != std::to_string(seq)) {
          return;
        }
        got[static_cast<size_t>(i)] = seq;
      }
    });
  }
  for (uint64_t seq = 1; seq <= 2 * kFlaps; ++seq) {
    SetState(first_, seq % 2 == 1 ? kStateDown : kStateActive);
    Tell({Record(seq, TransitionType::kLink)});
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(got, std::vector<uint64_t>(kClients, 2 * kFlaps));
  EXPECT_EQ(Clients(), kClients);
}

TEST_F(StreamTest, StopEndsAllStreamsAtOnce) {
  StartAndListen();
  EventSource first(tcp());
  first.Begin();
  EventSource second(admin());
  second.Begin();
  const testing::Stopwatch stopwatch;
  EXPECT_TRUE(server_->Stop(seconds(10)));
  EXPECT_LT(stopwatch.Elapsed(), seconds(1));
  EXPECT_TRUE(first.WaitClosed());
  EXPECT_TRUE(second.WaitClosed());
  Tell({Record(1, TransitionType::kLink)});  // the journal may outlive the server
}

TEST_F(StreamTest, ClientsOfTheStreamAreNotPushedOutByOthers) {
  options_.max_connections = 3;
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 6; ++i) {
    idle.push_back(std::make_unique<RawClient>(tcp()));
  }
  EXPECT_EQ(Get("/healthz").status, 200);
  Tell({Record(1, TransitionType::kLink)});
  EXPECT_EQ(source.Next().id, "1");
}

TEST_F(StreamTest, HeadHasNoStream) {
  StartAndListen();
  const RawReply reply = Send(tcp(), "HEAD /api/v1/stream");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(Clients(), 0);
}

}  // namespace
}  // namespace nicmon::http
