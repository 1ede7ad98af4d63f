// What is made of answers: those of nicmon, and those of somebody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ctl/check.h"
#include "ctl/ctl_run.h"
#include "ctl/sse.h"

namespace nicmon {
namespace {

using ctl::Judge;
using ::testing::AllOf;
using testing::Ctl;
using testing::CtlResult;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TempDir;

/// What one request to somebody who answers `reply`, whatever is asked, comes to.
CtlResult AskOneWhoAnswers(const std::string& reply, const testing::Strings& arguments) {
  const TempDir dir;
  const std::string path = dir.path() + "/admin.sock";
  const UniqueFd socket = testing::UnixSocket(path, true);
  std::thread server([&] {
    const UniqueFd probe(::accept(socket.get(), nullptr, nullptr));  // whether anybody is there
    const UniqueFd asked(::accept(socket.get(), nullptr, nullptr));
    std::array<char, 4096> request;
    (void)!::read(asked.get(), request.data(), request.size());
    (void)!::write(asked.get(), reply.data(), reply.size());
  });
  const CtlResult result = Ctl(arguments, {"NICMON_ADMIN_SOCKET=" + path});
  server.join();
  return result;
}

std::string Reply(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

ctl::PortReply Port(const std::string& device, bool serving, std::optional<double> speed) {
  ctl::PortReply port;
  port.device = device;
  port.port = "1";
  port.state = serving ? "active" : "down";
  port.serving = serving;
  port.required = true;
  port.speed = speed;
  return port;
}

TEST(CtlEndpoint, SomebodyElseAnswers) {
  const CtlResult odd = AskOneWhoAnswers(Reply("200 OK", "<html>"), {"select"});
  EXPECT_EQ(odd.code, 2);
  EXPECT_THAT(odd.err, HasSubstr("not understood"));
  const CtlResult silent = AskOneWhoAnswers(Reply("418 Teapot", "short"), {"ports"});
  EXPECT_EQ(silent.code, 2);
  EXPECT_THAT(silent.err, HasSubstr("answered 418 without saying why"));
  const CtlResult broken = AskOneWhoAnswers("HTTP/1.1 200 OK\r\nContent-Le", {"ports"});
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, StartsWith("nicmon ctl: "));
  const CtlResult hostile = AskOneWhoAnswers(
      Reply("200 OK", R"({"ports":[{"device":"a\u001b[31m","port":1}]})"), {"select"});
  EXPECT_THAT(hostile.out, AllOf(HasSubstr("a[31m/1"), Not(HasSubstr("\x1b"))));
}

TEST(CtlEndpoint, AQueryThatFailedIsNoSuccessThoughThePortServes) {
  const CtlResult failed = AskOneWhoAnswers(
      Reply("200 OK", R"({"verdict":"query_failed","query_error":"EIO",)"
                      R"("after":{"device":"a","port":1,"state":"active","serving":true}})"),
      {"requery", "a/1"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_EQ(failed.out, "a/1  query_failed  EIO\n");
}

TEST(CtlEndpoint, AProbeIsATableAndALine) {
  const auto probe = [](const std::string& body) {
    return AskOneWhoAnswers(Reply("200 OK", body), {"probe", "a/1"});
  };
  const CtlResult fine = probe(
      R"({"device":"a","port":1,"result":"ok","failed_step":null,"error":null,"hint":null,)"
      R"("gid":{"index":3,"gid":"fe80::1","type":"RoCE v2","netdev":"eth0"},"duration_ms":12.3,)"
      R"("steps":[{"step":"open","duration_ms":12.0},{"step":"query_port","duration_ms":0.3}],)"
      R"("events":[]})");
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(fine.out,
            "STEP        MS\n"
            "open        12.000\n"
            "query_port  0.300\n"
            "a/1 ok in 12.300 ms over GID 3 (RoCE v2, eth0)\n");
  const CtlResult failed =
      probe(R"({"device":"a","port":1,"result":"failed","failed_step":"write","error":"flushed",)"
            R"("hint":"see dmesg","gid":{"index":0,"gid":"fe80::1","type":"IB","netdev":null},)"
            R"("duration_ms":9,"steps":[{"step":"open","duration_ms":1},)"
            R"({"step":"write","duration_ms":8}],"events":["qp_fatal","a\u001b[31m"]})");
  EXPECT_EQ(failed.code, 1);
  EXPECT_EQ(failed.out,
            "STEP   MS\n"
            "open   1.000\n"
            "write  8.000  FAILED\n"
            "the device reported qp_fatal\n"
            "the device reported a[31m\n"
            "a/1 failed at write: flushed; see dmesg\n");
  const std::string without =
      R"({"device":"a","port":1,"result":"ok","gid":null,"duration_ms":1,"steps":[]})";
  EXPECT_THAT(probe(without).out, HasSubstr("\na/1 ok in 1.000 ms\n"));
  EXPECT_EQ(probe(R"({"result":"ok"})").code, 2);
  const CtlResult busy = AskOneWhoAnswers(
      Reply("409 Conflict",
            R"({"error":{"code":"probe_running","message":"another runs","hint":"wait"}})"),
      {"probe", "a/1"});
  EXPECT_EQ(busy.code, 1);
  EXPECT_EQ(busy.err, "nicmon ctl: another runs; wait\n");
}

TEST(CtlStream, IsPutTogetherWhereverItIsCut) {
  const std::string text = "event: port\nid: 7\ndata: {\"a\":1}\n\n: keep-alive\n\ndata: {}\n\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    ctl::EventReader reader;
    auto events = reader.Read(text.substr(0, cut));
    const auto more = reader.Read(text.substr(cut));
    events.insert(events.end(), more.begin(), more.end());
    EXPECT_EQ(events, testing::Strings({"{\"a\":1}", "{}"})) << cut;
  }
}

TEST(CtlStream, WhatIsNoStreamIsSaid) {
  const CtlResult none = AskOneWhoAnswers(
      Reply("503 Busy", R"({"error":{"code":"too_many_streams","message":"too many streams"}})"),
      {"watch"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "nicmon ctl: too many streams\n");
  EXPECT_THAT(AskOneWhoAnswers(Reply("200 OK", "data: <html>\n\n"), {"watch"}).err,
              HasSubstr("not understood"));
}

TEST(CtlCheck, WhatCounts) {
  const auto code = [](const std::vector<ctl::PortReply>& ports,
                       const ctl::CheckOptions& options = {}) {
    return Judge(ports, options).exit_code;
  };
  const auto up = Port("a", true, 400);
  const auto down = Port("b", false, std::nullopt);
  auto held = Port("c", false, 400);
  held.paused.push_back({"admin", "", "", "cable", "ops"});
  auto spare = Port("d", false, std::nullopt);
  spare.required = false;
  EXPECT_EQ(code({up}), 0);
  EXPECT_EQ(code({up, down}), 1);
  EXPECT_EQ(code({up, held, spare}), 0);
  EXPECT_EQ(code({held}), 1) << "nothing serves";
  EXPECT_EQ(code({}), 1) << "a node whose NICs are all gone";
  EXPECT_EQ(code({}, {.expect_ports = 0}), 0);
  EXPECT_EQ(code({up, down}, {.expect_ports = 1}), 0) << "others do not matter then";
  EXPECT_EQ(code({up, held}, {.expect_ports = 2}), 1) << "a held one does not serve";
  EXPECT_EQ(code({up}, {.min_speed = 400}), 0);
  EXPECT_EQ(code({up, Port("e", true, 100)}, {.min_speed = 400}), 1);
  EXPECT_EQ(code({up, Port("e", true, 100)}, {.expect_ports = 1, .min_speed = 400}), 0);
  EXPECT_EQ(code({Port("e", true, std::nullopt)}, {.min_speed = 1}), 1) << "unknown";
}

}  // namespace
}  // namespace nicmon
