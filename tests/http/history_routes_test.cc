#include <unistd.h>

#include <nlohmann/json.hpp>

#include "http/http_test.h"

namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;

const std::string kPort = "/api/v1/ports/mlx5_0/1";
const std::string kWho = "uid=" + std::to_string(::getuid());

class HistoryRoutes : public HttpTest {
 protected:
  HistoryRoutes() { first_ = node_.Add("mlx5_0", "0000:3b:00.0"); }
  Json GetJson(const std::string& path, int status = 200) {
    const RawReply reply = Send(admin(), "GET " + path);
    EXPECT_EQ(reply.status, status) << path << ": " << reply.body;
    Json json = Json::parse(reply.body, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << reply.body;
    return json;
  }
  /// The latest record of a type.
  Transition Last(TransitionType type) const {
    for (auto it = node_.recorded.rbegin(); it != node_.recorded.rend(); ++it) {
      if (it->type == type) {
        return *it;
      }
    }
    ADD_FAILURE() << "no record of type " << TransitionTypeName(type);
    return {};
  }
  void Record(Transition event) {
    event.seq = node_.recorded.size() + 1;
    node_.recorded.push_back(std::move(event));
  }

  DeviceId first_ = 0;
};

TEST_F(HistoryRoutes, AnEventHasNullWhereNothingIsKnown) {
  Transition event;
  event.time = WallTime(std::chrono::seconds(1'700'000'000));
  event.type = TransitionType::kDevice;
  event.device = "mlx5_0";
  event.cause = "status";
  event.after = "fatal";
  Record(event);
  Start();
  const Json reply = GetJson("/api/v1/events");
  EXPECT_EQ(reply["events"], Json::array({{{"seq", 1},
                                           {"time", "2023-11-14T22:13:20.000Z"},
                                           {"type", "device"},
                                           {"device", "mlx5_0"},
                                           {"port", nullptr},
                                           {"cause", "status"},
                                           {"before", nullptr},
                                           {"after", "fatal"},
                                           {"note", nullptr},
                                           {"by", nullptr},
                                           {"hold", nullptr},
                                           {"until", nullptr}}}));
}

TEST_F(HistoryRoutes, ParametersBecomeConditions) {
  Start();
  GetJson(
      "/api/v1/events?limit=7&before=42&device=0000:3b:00.0&port=2&type=link"
      "&since=2026-01-31T23:59:59Z");
  EXPECT_EQ(node_.asked.limit, 7U);
  EXPECT_EQ(node_.asked.before_seq, 42U);
  EXPECT_EQ(node_.asked.device, "mlx5_0") << "any name that it has now";
  EXPECT_EQ(node_.asked.port, 2U);
  EXPECT_EQ(node_.asked.type, TransitionType::kLink);
  EXPECT_EQ(Rfc3339(*node_.asked.since), "2026-01-31T23:59:59.000Z");
  EXPECT_FALSE(node_.asked.audit);

  GetJson("/api/v1/events?device=gone0&since=2h&before=2026-01-31T23:59:59Z");
  EXPECT_EQ(node_.asked.device, "gone0") << "history has devices that are not there any more";
  const WallTime now = std::chrono::system_clock::now();
  EXPECT_LT(*node_.asked.since, now - hours(2) + minutes(1));
  EXPECT_GT(*node_.asked.since, now - hours(2) - minutes(1));
  EXPECT_EQ(Rfc3339(*node_.asked.before), "2026-01-31T23:59:59.000Z");
  EXPECT_FALSE(node_.asked.before_seq);
  EXPECT_EQ(node_.asked.limit, 100U);

  GetJson("/api/v1/events?before=18446744073709551615");
  EXPECT_EQ(node_.asked.before_seq, uint64_t{INT64_MAX});
}

TEST_F(HistoryRoutes, WhatIsNoConditionIsRefused) {
  Start();
  for (const char* bad : {"limit=0", "limit=1001", "limit=x", "limit=-1", "port=0", "port=x",
                          "port=4294967296", "since=yesterday", "before=x", "type=nothing",
                          "type=audit", "type=LINK", "device=a&device=b", "who=me"}) {
    const Json reply = GetJson(std::string("/api/v1/events?") + bad, 400);
    EXPECT_NE(reply["error"]["message"], "") << bad;
  }
  GetJson("/api/v1/audit?type=link", 400);
}

TEST_F(HistoryRoutes, PagesAndTables) {
  Start();
  Post(kPort + "/pause", "reason=bad+cable&by=ann");
  Post(kPort + "/resume");
  const Json page = GetJson("/api/v1/events?limit=1");
  ASSERT_EQ(page["events"].size(), 1U);
  EXPECT_EQ(page["events"][0]["cause"], "resume");
  const Json next = GetJson("/api/v1/events?before=" + std::to_string(page["next"].get<int>()));
  ASSERT_EQ(next["events"].size(), 1U);
  EXPECT_EQ(next["events"][0]["cause"], "pause");
  const std::string table = Get("/api/v1/events?format=text&limit=1").body;
  EXPECT_EQ(table.rfind("TIME ", 0), 0U) << table;
  EXPECT_NE(table.find("mlx5_0/1"), std::string::npos) << table;
  EXPECT_NE(table.find("older ones: before="), std::string::npos) << table;
  const std::string audit = Send(admin(), "GET /api/v1/audit", "Accept: text/plain\r\n").body;
  EXPECT_NE(audit.find(kWho), std::string::npos) << audit;
  node_.recorded.clear();
  EXPECT_EQ(Get("/api/v1/events?format=text").body, "no events\n");
}

TEST_F(HistoryRoutes, HoldsAndReleasesAreTold) {
  Start();
  Post(kPort + "/pause", "reason=bad+cable&by=ann&ttl=2h");
  Transition told = Last(TransitionType::kHold);
  EXPECT_EQ(told.device, "mlx5_0");
  EXPECT_EQ(told.port, 1U);
  EXPECT_EQ(told.cause + "," + told.before + "," + told.after, "pause,,held");
  EXPECT_EQ(told.note + "," + told.by + "," + told.hold, "bad cable,ann,h1");
  EXPECT_NE(told.until, "");

  Post(kPort + "/pause", "reason=other");  // 409: nothing has changed
  EXPECT_EQ(Last(TransitionType::kHold).note, "bad cable");

  Post(kPort + "/resume", "by=bob");
  told = Last(TransitionType::kHold);
  EXPECT_EQ(told.cause + "," + told.before + "," + told.after, "resume,held by ann,");
  EXPECT_EQ(told.by, "bob");
  const size_t count = node_.recorded.size();
  Post(kPort + "/resume");
  EXPECT_EQ(node_.recorded.size(), count + 1) << "only that it was asked for";

  Post(kPort + "/pause", "reason=again");
  Send(admin(), "DELETE /api/v1/holds/h2");
  EXPECT_EQ(Last(TransitionType::kHold).cause, "delete");

  Post("/api/v1/devices/mlx5_0/release", "reason=driver");
  told = Last(TransitionType::kHold);
  EXPECT_EQ(told.cause + "," + told.after + "," + told.note, "release,released,driver");
  EXPECT_EQ(told.port, 0U);
  EXPECT_NE(told.until, "");
  Post("/api/v1/devices/mlx5_0/reopen");
  EXPECT_EQ(Last(TransitionType::kHold).cause, "reopen");
}

TEST_F(HistoryRoutes, WhatGaveWayToAHoldOrReleaseIsTold) {
  Start();
  Post(kPort + "/pause", "reason=bad+cable&by=ann");
  EXPECT_EQ(GetJson("/api/v1/audit")["audit"][0].at("replaced"), nullptr);
  Post(kPort + "/pause", "reason=mine&by=bob&replace=true");
  Transition told = Last(TransitionType::kHold);
  EXPECT_EQ(told.cause + "," + told.before + "," + told.after, "pause,held by ann,held");
  Json audit = GetJson("/api/v1/audit")["audit"][0];
  EXPECT_EQ(audit["held_by"], "ann");
  EXPECT_EQ(audit["replaced"].get<std::string>().rfind("h1 by ann since ", 0), 0U) << audit;
  EXPECT_NE(audit["replaced"].get<std::string>().find(" until resumed: bad cable"),
            std::string::npos);

  Post("/api/v1/devices/mlx5_0/release", "reason=driver&by=ann");
  Post("/api/v1/release", "reason=reboot&by=bob");
  told = Last(TransitionType::kHold);
  EXPECT_EQ(told.cause + "," + told.before + "," + told.after, "release,released by ann,released");
  audit = GetJson("/api/v1/audit")["audit"][0];
  EXPECT_EQ(audit["held_by"], "ann");
  EXPECT_EQ(audit["replaced"].get<std::string>().rfind("mlx5_0 by ann since ", 0), 0U) << audit;
  const std::string table = Send(admin(), "GET /api/v1/audit?format=text").body;
  EXPECT_NE(table.find("  REPLACED\n"), std::string::npos) << table;
  EXPECT_NE(table.find(": driver\n"), std::string::npos) << table;
}

TEST_F(HistoryRoutes, TheAuditHasWhoItWasAndWhoTheySayTheyAre) {
  options_.admin_token_file = WriteFile("tokens", "ops:secret\n");
  Start();
  Post(kPort + "/pause", "reason=bad+cable&by=ann");
  Send(tcp(), "POST " + kPort + "/resume", "Authorization: Bearer secret\r\n");
  Post(kPort + "/pause", "reason=");
  Send(tcp(), "POST " + kPort + "/pause?reason=x&by=root", "Authorization: Bearer wrong\r\n");
  const Json list = GetJson("/api/v1/audit")["audit"];
  ASSERT_EQ(list.size(), 4U);
  const Json& denied = list[0];
  EXPECT_EQ(denied["action"], "pause");
  EXPECT_EQ(denied["result"], "denied");
  EXPECT_EQ(denied["status"], 401);
  EXPECT_EQ(denied["who"], nullptr);
  EXPECT_EQ(denied["by"], nullptr) << "nobody vouches for it";
  EXPECT_EQ(denied["reason"], "from 127.0.0.1");
  EXPECT_EQ(list[1]["result"], "error");
  EXPECT_EQ(list[1]["status"], 400);
  const Json& resumed = list[2];
  EXPECT_EQ(resumed["action"], "resume");
  EXPECT_EQ(resumed["who"], "token=ops");
  EXPECT_EQ(resumed["by"], nullptr);
  EXPECT_EQ(resumed["held_by"], "ann");
  EXPECT_EQ(resumed["hold"], "h1");
  const Json& paused = list[3];
  EXPECT_EQ(paused["who"], kWho);
  EXPECT_EQ(paused["by"], "ann");
  EXPECT_EQ(paused["device"], "mlx5_0");
  EXPECT_EQ(paused["port"], 1);
  EXPECT_EQ(paused["reason"], "bad cable");
  EXPECT_EQ(paused["result"], "ok");
  EXPECT_EQ(paused["status"], 200);
  EXPECT_EQ(GetJson("/api/v1/audit")["audit"].size(), 4U) << "reading it is no action";
  const Json events = GetJson("/api/v1/events");
  for (const Json& event : events["events"]) {
    EXPECT_NE(event["type"], "audit") << "events are for everybody who may read";
  }
}

TEST_F(HistoryRoutes, TheAuditOfADeviceHasAllThatConcernedIt) {
  options_.admin_token_file = WriteFile("tokens", "ops:secret\n");
  node_.Add("mlx5_1", "0000:5e:00.0");
  Start();
  const auto actions = [this](const std::string& query) {
    std::string all;
    const Json list = GetJson("/api/v1/audit?" + query)["audit"];
    for (const Json& one : list) {
      all += one["action"].get<std::string>() + " " + one["result"].get<std::string>() + " " +
             one["device"].get<std::string>() + ", ";
    }
    return all;
  };
  Post("/api/v1/release", "reason=driver&by=ann");
  Post("/api/v1/reopen");
  Post("/api/v1/ports/mlx5_1/1/requery");
  Post("/api/v1/ports/0000:3b:00.0/1/pause", "reason=");  // 400
  Post("/api/v1/release", "ttl=never");                   // 400
  Send(tcp(), "POST " + kPort + "/pause?reason=x", "Authorization: Bearer wrong\r\n");
  EXPECT_EQ(actions("device=mlx5_0"),
            "pause denied mlx5_0, release error all, pause error mlx5_0, reopen ok all, "
            "release ok all, ");
  EXPECT_EQ(actions("device=mlx5_1"),
            "release error all, requery ok mlx5_1, reopen ok all, release ok all, ");
  EXPECT_EQ(actions("device=mlx5_0&port=1"), actions("device=mlx5_0"));
  EXPECT_EQ(actions("device=0000:5e:00.0"), actions("device=mlx5_1"));
}

TEST_F(HistoryRoutes, ARefusedRequestLeavesNoNameThatIsNone) {
  Start();
  Send(tcp(), "POST /api/v1/ports/evil/1/pause");
  ASSERT_EQ(node_.recorded.size(), 1U);
  EXPECT_EQ(node_.recorded[0].device + std::to_string(node_.recorded[0].port), "0");
}

TEST_F(HistoryRoutes, TheAuditIsForOperators) {
  Start();
  EXPECT_EQ(Get("/api/v1/audit").status, 403);
  EXPECT_EQ(Get("/api/v1/events").status, 200);
}

TEST_F(HistoryRoutes, AHistoryThatCannotBeReadIsNoEmptyOne) {
  node_.history_broken = true;
  Start();
  const RawReply reply = Get("/api/v1/events");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.count("retry-after"), 1U);
  EXPECT_EQ(GetJson("/api/v1/audit", 503)["error"]["code"], "history_unavailable");
}

}  // namespace
}  // namespace nicmon::http
