
#include "http/stream_fixture.h"
#include "testing/wait_for.h"

// What the stream tells of what happens.
namespace nicmon::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

}  // namespace
}  // namespace nicmon::http
