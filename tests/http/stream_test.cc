#include <thread>

#include "http/event_source.h"
#include "http/http_test.h"
#include "testing/wait_for.h"

namespace nicmon::http {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

class StreamTest : public HttpTest {
 protected:
  StreamTest() {
    first_ = node_.Add("mlx5_0", "0000:3b:00.0");
    node_.Add("mlx5_1", "0000:0a:00.0");
    options_.stream.refresh = hours(1);
    options_.stream.keep_alive = hours(1);
  }
  void StartAndListen() {
    Start();
    listener_ = server_->stream_listener();
  }
  static Transition Record(uint64_t seq, TransitionType type, const std::string& device = "mlx5_0",
                           uint32_t port = 1) {
    Transition event;
    event.seq = seq;
    event.type = type;
    event.device = device;
    event.port = port;
    return event;
  }
  void Tell(const std::vector<Transition>& records) { listener_(records); }
  void SetState(DeviceId id, int state) {
    node_.Change(id, [&](DeviceSnapshot& device) { device.ports[0].state = state; });
  }
  int Clients() { return stats_->Read().stream_clients; }

  DeviceId first_ = 0;
  std::function<void(std::span<const Transition>)> listener_;
};

TEST_F(StreamTest, BeginsWithASnapshotOfAll) {
  StartAndListen();
  Tell({Record(41, TransitionType::kLink)});
  node_.holds->SetRelease(99, {"x", "y", {}, {}});
  Post("/api/v1/ports/mlx5_0/1/pause", "reason=bad+cable");
  EventSource source(tcp());
  const std::string head = source.Head();
  EXPECT_EQ(head.rfind("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", 0), 0U) << head;
  EXPECT_NE(head.find("Cache-Control: no-store\r\n"), std::string::npos);
  EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(source.Next().name, "retry: 2000");
  const auto snapshot = source.Next();
  EXPECT_EQ(snapshot.name, "snapshot");
  EXPECT_EQ(snapshot.id, "41");
  EXPECT_EQ(snapshot.data["seq"], 41);
  EXPECT_EQ(snapshot.data["node"]["node"], "gpu-1");
  EXPECT_EQ(snapshot.data["node"]["version"], "1.2.3");
  EXPECT_EQ(snapshot.data["node"]["ports_held"], 1);
  EXPECT_EQ(snapshot.data["durable"], false);
  EXPECT_EQ(snapshot.data["devices"].size(), 2U);
  EXPECT_EQ(snapshot.data["ports"].size(), 2U);
  EXPECT_EQ(snapshot.data["ports"][0]["device"], "mlx5_0");
  EXPECT_EQ(snapshot.data["holds"][0]["reason"], "bad cable");
}

TEST_F(StreamTest, ARecordIsToldAtOnceWithTheStateAfterIt) {
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  SetState(first_, kStateDown);
  Tell({Record(7, TransitionType::kLink)});
  const auto event = source.Next();
  EXPECT_EQ(event.name, "port");
  EXPECT_EQ(event.id, "7");
  EXPECT_EQ(event.data["event"]["type"], "link");
  EXPECT_EQ(event.data["port"]["state"], "down");
  EXPECT_EQ(event.data["port"]["serving"], false);
}

TEST_F(StreamTest, OfABurstOnlyTheLastRecordOfAPortHasItsState) {
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  Tell({Record(1, TransitionType::kLink), Record(2, TransitionType::kLink, "mlx5_1"),
        Record(3, TransitionType::kSpeed)});
  const auto first = source.Next();
  const auto second = source.Next();
  const auto third = source.Next();
  EXPECT_EQ(first.id + second.id + third.id, "123") << "in order";
  EXPECT_TRUE(first.data["port"].is_null());
  EXPECT_EQ(second.data["port"]["device"], "mlx5_1");
  EXPECT_EQ(third.data["port"]["device"], "mlx5_0");
}

TEST_F(StreamTest, AHoldTellsItselfAndItsPort) {
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  Post("/api/v1/ports/mlx5_0/1/pause", "reason=bad+cable&by=ann");
  Tell({node_.recorded.at(0)});
  const auto held = source.Next();
  EXPECT_EQ(held.name, "hold");
  EXPECT_EQ(held.data["event"]["cause"], "pause");
  EXPECT_EQ(held.data["hold"]["by"], "ann");
  EXPECT_EQ(held.data["id"], held.data["hold"]["id"]);
  const auto port = source.Next();
  EXPECT_EQ(port.name, "port");
  EXPECT_TRUE(port.data["event"].is_null());
  EXPECT_EQ(port.data["port"]["paused"][0]["reason"], "admin");
  const auto node = source.Next();
  EXPECT_EQ(node.name, "node");
  EXPECT_EQ(node.data["node"]["ports_held"], 1);
  Post("/api/v1/ports/mlx5_0/1/resume");
  Tell({node_.recorded.at(2)});
  const auto lifted = source.Next();
  EXPECT_EQ(lifted.data["event"]["cause"], "resume");
  EXPECT_TRUE(lifted.data["hold"].is_null());
  EXPECT_EQ(lifted.data["id"], held.data["id"]) << "which one has ended";
}

TEST_F(StreamTest, AHoldThatNoRecordTellsOfIsFoundByTheRefresh) {
  options_.stream.refresh = milliseconds(5);
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  Post("/api/v1/ports/mlx5_0/1/pause", "reason=bad+cable");
  const auto held = source.Next("hold");
  EXPECT_TRUE(held.data["event"].is_null());
  EXPECT_EQ(held.data["hold"]["reason"], "bad cable");
  EXPECT_EQ(source.Next("port").data["port"]["serving"], false);
  Post("/api/v1/ports/mlx5_0/1/resume");
  const auto lifted = source.Next("hold");
  EXPECT_TRUE(lifted.data["event"].is_null());
  EXPECT_TRUE(lifted.data["hold"].is_null());
  EXPECT_EQ(lifted.data["id"], held.data["id"]);
}

TEST_F(StreamTest, WhatChangesOfTheNodeIsTold) {
  options_.stream.refresh = milliseconds(5);
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  SetState(first_, kStateDown);
  const auto event = source.Next("node");
  EXPECT_TRUE(event.data["event"].is_null());
  EXPECT_EQ(event.data["node"]["ports_up"], 1);
}

TEST_F(StreamTest, ADeviceTellsItselfAndItsPorts) {
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.status = DeviceStatus::kFatal;
    device.ports[0].state.reset();
  });
  Tell({Record(5, TransitionType::kDevice, "mlx5_0", 0)});
  const auto device = source.Next();
  EXPECT_EQ(device.name, "device");
  EXPECT_EQ(device.data["device"]["status"], "fatal");
  const auto port = source.Next();
  EXPECT_EQ(port.name, "port");
  EXPECT_TRUE(port.data["port"]["state"].is_null());
}

TEST_F(StreamTest, TheAuditIsNotForReaders) {
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  Tell({Record(1, TransitionType::kAudit), Record(2, TransitionType::kLink)});
  EXPECT_EQ(source.Next().id, "2");
}

TEST_F(StreamTest, WhatChangesWithoutARecordIsFoundByTheRefresh) {
  options_.stream.refresh = options_.stream.keep_alive = milliseconds(5);
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.ports[0].last_query = WallTime(seconds(1));  // changes all the time: no news
    device.published += seconds(1);
  });
  // A comment comes after a look that found nothing.
  EXPECT_EQ(source.Next().name, "comment");
  EXPECT_EQ(source.Next().name, "comment");
  node_.Change(first_, [](DeviceSnapshot& device) { device.ports[0].mtu_bytes = 1024; });
  auto event = source.Next("port");
  EXPECT_EQ(event.name, "port");
  EXPECT_TRUE(event.data["event"].is_null());
  EXPECT_EQ(event.data["port"]["mtu"], 1024);
  node_.Change(first_, [](DeviceSnapshot& device) { device.identity.firmware_version = "2"; });
  event = source.Next("device");
  EXPECT_EQ(event.name, "device");
  EXPECT_EQ(event.data["device"]["firmware_version"], "2");
  // Nobody tells that a thread is stuck but the clock.
  node_.Stall(first_);
  event = source.Next("device");
  EXPECT_EQ(event.data["device"]["status"], "stalled");
}

TEST_F(StreamTest, NewDevicesAreToldAndLostOnesMeanANewSnapshot) {
  options_.stream.refresh = milliseconds(5);
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  const DeviceId third = node_.Add("mlx5_2", "0000:0b:00.0");
  EXPECT_EQ(source.Next().data["device"]["device"], "mlx5_2");
  EXPECT_EQ(source.Next().data["port"]["device"], "mlx5_2");
  node_.Remove(third);
  auto snapshot = source.Next("snapshot");
  EXPECT_EQ(snapshot.name, "snapshot");
  EXPECT_EQ(snapshot.data["devices"].size(), 2U);
  node_.Change(first_, [](DeviceSnapshot& device) { device.name = "rdma7"; });
  snapshot = source.Next();
  EXPECT_EQ(snapshot.name, "snapshot");
  EXPECT_EQ(snapshot.data["devices"].size(), 2U);
}

TEST_F(StreamTest, RecordsThatComeTooFastMeanANewSnapshot) {
  StartAndListen();
  EventSource source(tcp());
  source.Begin();
  Tell(std::vector<Transition>(9000, Record(9000, TransitionType::kLink)));
  const auto event = source.Next();
  EXPECT_EQ(event.name, "snapshot");
  EXPECT_EQ(event.id, "9000");
}

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
  record.note = std::string(1000, 'x');
  // Far more than the kernel keeps for both ends of a connection.
  constexpr uint64_t kRecords = 20'000;
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
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(server_->Stop(seconds(10)));
  EXPECT_LT(std::chrono::steady_clock::now() - before, seconds(1));
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
