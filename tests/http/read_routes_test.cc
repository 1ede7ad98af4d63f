#include <nlohmann/json.hpp>

#include "http/http_test.h"

namespace nicmon::http {
namespace {

using Json = nlohmann::json;

class ReadRoutes : public HttpTest {
 protected:
  ReadRoutes() {
    first_ = node_.Add("mlx5_0", "0000:3b:00.0");
    second_ = node_.Add("mlx5_1", "0000:0a:00.0", 2);
  }
  Json GetJson(const std::string& path) {
    const RawReply reply = Get(path);
    EXPECT_EQ(reply.status, 200) << path << ": " << reply.body;
    EXPECT_EQ(reply.headers.at("content-type"), "application/json");
    EXPECT_EQ(reply.body.back(), '\n');
    return Json::parse(reply.body, nullptr, false);
  }
  std::string ErrorCode(const RawReply& reply) {
    const Json json = Json::parse(reply.body, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << reply.body;
    EXPECT_FALSE(json["error"]["message"].get<std::string>().empty());
    return json["error"]["code"];
  }

  DeviceId first_ = 0, second_ = 0;
};

TEST_F(ReadRoutes, MetricsArePlainOrGzipped) {
  Start();
  const RawReply plain = Get("/metrics");
  EXPECT_EQ(plain.status, 200);
  EXPECT_EQ(plain.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(plain.body, node_.metrics);
  EXPECT_EQ(plain.headers.count("content-encoding"), 0U);
  EXPECT_EQ(Get("/metrics", "Accept-Encoding: gzip;q=0, br\r\n").body, node_.metrics);

  const RawReply packed = Get("/metrics", "Accept-Encoding: br, gzip;q=0.5\r\n");
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(packed.headers.at("vary"), "Accept-Encoding");
  EXPECT_EQ(Unpack(packed.body), node_.metrics);
}

TEST_F(ReadRoutes, HeadHasTheHeadersOfGetAndNoBody) {
  Start();
  for (const char* path : {"/metrics", "/healthz", "/readyz", "/", "/api/v1/ports",
                           "/api/v1/ports/mlx5_0/1", "/api/v1/select"}) {
    RawClient client(tcp());
    client.Send(std::string("HEAD ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto head = client.Receive(true);
    ASSERT_TRUE(head) << path;
    EXPECT_EQ(head->status, 200) << path;
    EXPECT_GT(std::stoi(head->headers.at("content-length")), 0) << path;
    // The next reply starts right behind it: there was no body.
    client.Send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto next = client.Receive();
    ASSERT_TRUE(next) << path;
    EXPECT_EQ(next->status, 200) << path;
  }
}

TEST_F(ReadRoutes, HealthDependsOnTheProcessOnly) {
  Start();
  node_.Change(first_, [](DeviceSnapshot& device) { device.status = DeviceStatus::kFatal; });
  EXPECT_EQ(Get("/healthz").status, 200);
  node_.healthy = false;
  EXPECT_EQ(Get("/healthz").status, 503);
}

TEST_F(ReadRoutes, ReadinessCountsPorts) {
  node_.options.expect_ports = 3;
  node_.discovered = false;
  Start();
  EXPECT_EQ(Get("/readyz").status, 503);
  node_.discovered = true;
  RawReply reply = Get("/readyz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(Json::parse(reply.body)["ports_up"], 3);
  node_.Change(first_, [](DeviceSnapshot& device) { device.ports[0].state = 1; });
  reply = Get("/readyz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.count("retry-after"), 1U);
  const Json json = Json::parse(reply.body);
  EXPECT_EQ(json["ports_up"], 2);
  EXPECT_EQ(json["ports_expected"], 3);
  EXPECT_EQ(json["ready"], false);
}

TEST_F(ReadRoutes, APortHasTheFieldsOfTheContract) {
  Start();
  const Json port = GetJson("/api/v1/ports/mlx5_0/1");
  std::vector<std::string> names;
  const auto ordered = nlohmann::ordered_json::parse(Get("/api/v1/ports/mlx5_0/1").body);
  for (const auto& [name, value] : ordered.items()) {
    names.push_back(name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"device",
                                             "port",
                                             "link_layer",
                                             "netdev",
                                             "carrier_changes",
                                             "bond",
                                             "pci_address",
                                             "state",
                                             "state_id",
                                             "physical_state",
                                             "physical_state_id",
                                             "up",
                                             "serving",
                                             "stale",
                                             "required",
                                             "paused",
                                             "effective_speed_gbps",
                                             "nominal_speed_gbps",
                                             "expected_speed_gbps",
                                             "baseline_speed_gbps",
                                             "speed_source",
                                             "lanes",
                                             "lane_speed",
                                             "mtu",
                                             "lid",
                                             "gid",
                                             "last_change",
                                             "flaps",
                                             "last_query",
                                             "rx_gbps",
                                             "tx_gbps"}));
  EXPECT_EQ(port["state"], "active");
  EXPECT_EQ(port["state_id"], 4);
  EXPECT_EQ(port["physical_state"], "link_up");
  EXPECT_EQ(port["effective_speed_gbps"].dump(), "400");
  EXPECT_TRUE(port["expected_speed_gbps"].is_null());
  EXPECT_TRUE(port["lid"].is_null());
  EXPECT_TRUE(port["last_change"].is_null());
  EXPECT_TRUE(port["rx_gbps"].is_null());
  EXPECT_EQ(port["serving"], true);
}

TEST_F(ReadRoutes, UnknownIsNullAndPausesAreListed) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    PortSnapshot& port = device.ports[0];
    port.state.reset();
    port.physical_state.reset();
    port.effective_speed_bps.reset();
    port.pauses.Set(PauseReason::kLink);
  });
  node_.Change(second_, [](DeviceSnapshot& device) {
    device.ports[0].effective_speed_bps = 2'500'000'000;
    device.ports[0].gid = Gid{3, {0xfe, 0x80}, 2, "eth0"};
  });
  Start();
  const Json port = GetJson("/api/v1/ports/mlx5_0/1");
  EXPECT_TRUE(port["state"].is_null());
  EXPECT_TRUE(port["state_id"].is_null());
  EXPECT_TRUE(port["effective_speed_gbps"].is_null());
  ASSERT_EQ(port["paused"].size(), 1U);
  EXPECT_EQ(port["paused"][0]["reason"], "link");
  EXPECT_TRUE(port["paused"][0]["until"].is_null());
  const Json other = GetJson("/api/v1/ports/mlx5_1/1");
  EXPECT_EQ(other["effective_speed_gbps"].dump(), "2.5");
  EXPECT_EQ(other["gid"]["index"], 3);
  EXPECT_EQ(other["gid"]["netdev"], "eth0");
}

TEST_F(ReadRoutes, ListsAndNode) {
  Start();
  EXPECT_EQ(GetJson("/api/v1/ports")["ports"].size(), 3U);
  const Json devices = GetJson("/api/v1/devices")["devices"];
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1]["ports"], Json::parse("[1,2]"));
  EXPECT_EQ(devices[0]["status"], "open");
  EXPECT_TRUE(devices[0]["numa_node"].is_null());
  EXPECT_EQ(GetJson("/api/v1/holds")["holds"].size(), 0U);
  const Json node = GetJson("/api/v1/node");
  EXPECT_EQ(node["node"], "gpu-1");
  EXPECT_EQ(node["ports_serving"], 3);
  EXPECT_TRUE(node["ports_expected"].is_null());
  EXPECT_EQ(node["version"], "1.2.3");
  EXPECT_EQ(node["admin_socket"], admin());
  EXPECT_EQ(node["holds_durable"], false);
  EXPECT_EQ(node["holds_lost"], false);
}

TEST_F(ReadRoutes, ThroughputIsThatOfTheLastSampleAndElseNull) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    StatsSample sample;
    sample.layout = std::make_shared<StatsLayout>();
    sample.rx_bytes_per_second = 12.5e9 + 1.25;  // nobody wants to read the ten bits
    device.ports[0].stats = std::make_shared<StatsSample>(sample);
  });
  Start();
  const Json port = GetJson("/api/v1/ports/mlx5_0/1");
  EXPECT_EQ(port["rx_gbps"], 100.0);
  EXPECT_TRUE(port["tx_gbps"].is_null());
  const auto table = Ask(tcp(), "GET /api/v1/ports/mlx5_0/1?format=text");
  ASSERT_TRUE(table);
  EXPECT_NE(table->body.find("  100.0  -  "), std::string::npos) << table->body;
}

TEST_F(ReadRoutes, ThePcieLinkAndWhatIsWrongWithIt) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.pcie = {16e9, 32e9, 8, 16};
    device.identity.physical_function = "0000:3b:00.1";
  });
  node_.Change(second_, [](DeviceSnapshot& device) { device.pcie = {2.5e9, 2.5e9, {}, 16}; });
  Start();
  const Json slow = GetJson("/api/v1/devices/mlx5_0");
  EXPECT_EQ(slow["physical_function"], "0000:3b:00.1");
  EXPECT_EQ(slow["pcie"]["speed_gtps"].dump(), "16");
  EXPECT_EQ(slow["pcie"]["width"], 8);
  EXPECT_EQ(slow["pcie"]["max_speed_gtps"].dump(), "32");
  EXPECT_EQ(slow["pcie"]["max_width"], 16);
  EXPECT_EQ(slow["pcie"]["below_maximum"], true);
  EXPECT_NE(slow["pcie"]["note"].get<std::string>().find("16 GT/s x8 of 32 GT/s x16"),
            std::string::npos);
  const Json fine = GetJson("/api/v1/devices/mlx5_1");
  EXPECT_TRUE(fine["physical_function"].is_null());
  EXPECT_EQ(fine["pcie"]["speed_gtps"].dump(), "2.5");
  EXPECT_TRUE(fine["pcie"]["width"].is_null());
  EXPECT_EQ(fine["pcie"]["below_maximum"], false);
  EXPECT_TRUE(fine["pcie"]["note"].is_null());
  EXPECT_NE(Get("/api/v1/devices?format=text").body.find("  16 GT/s x8 of 32 GT/s x16  "),
            std::string::npos);
  EXPECT_NE(Get("/api/v1/devices?format=text").body.find("  2.5 GT/s  "), std::string::npos);
  node_.Change(second_, [](DeviceSnapshot& device) { device.pcie = {}; });
  EXPECT_TRUE(GetJson("/api/v1/devices/mlx5_1")["pcie"].is_null());
}

TEST_F(ReadRoutes, BondMembersWhereTheyAreKnown) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.identity.netdev[1] = "bond0";
    device.ports[0].netdev = {7, 2, 1};
  });
  node_.Change(second_, [](DeviceSnapshot& device) {
    device.identity.netdev[1] = "bond1";
    device.ports[0].netdev = {0, 2, {}};
    device.identity.netdev[2] = "eth7";
  });
  Start();
  const Json port = GetJson("/api/v1/ports/mlx5_0/1");
  EXPECT_EQ(port["carrier_changes"], 7);
  EXPECT_EQ(port["bond"], Json::parse(R"({"members":2,"members_up":1})"));
  EXPECT_EQ(GetJson("/api/v1/ports/mlx5_1/1")["carrier_changes"], 0);
  EXPECT_TRUE(GetJson("/api/v1/ports/mlx5_1/1")["bond"]["members_up"].is_null());
  EXPECT_TRUE(GetJson("/api/v1/ports/mlx5_1/2")["carrier_changes"].is_null());
  EXPECT_TRUE(GetJson("/api/v1/ports/mlx5_1/2")["bond"].is_null());
  const std::string table = Get("/api/v1/ports?format=text").body;
  EXPECT_NE(table.find("  bond0 (1 of 2 up)  "), std::string::npos);
  EXPECT_NE(table.find("  bond1 (? of 2 up)  "), std::string::npos);
  EXPECT_NE(table.find("  eth7  "), std::string::npos);
}

TEST_F(ReadRoutes, AStalledDeviceSaysWhere) {
  node_.Stall(first_);
  Start();
  const Json device = GetJson("/api/v1/devices/mlx5_0");
  EXPECT_EQ(device["status"], "stalled");
  EXPECT_EQ(device["stalled_call"], "query_port");
}

TEST_F(ReadRoutes, ADeviceIsFoundByWhateverNamesExactlyOne) {
  const auto identify = [](const std::string& guid, const std::string& netdev) {
    return [=](DeviceSnapshot& device) {
      device.identity.node_guid = guid;
      device.identity.netdev[1] = netdev;
    };
  };
  node_.Change(first_, identify("0c42:a103:0065:4ba2", "bond0"));
  node_.Change(second_, identify("0c42:a103:0065:4ba3", "bond0"));
  node_.Change(second_, [](DeviceSnapshot& device) { device.identity.netdev[2] = "eth7"; });
  Start();
  EXPECT_EQ(GetJson("/api/v1/devices/0000:3B:00.0")["device"], "mlx5_0");
  EXPECT_EQ(GetJson("/api/v1/devices/0c42:a103:0065:4ba3")["device"], "mlx5_1");
  EXPECT_EQ(GetJson("/api/v1/devices/eth7")["device"], "mlx5_1");
  EXPECT_EQ(GetJson("/api/v1/devices/mlx5%5F0")["device"], "mlx5_0");
  const RawReply both = Get("/api/v1/devices/bond0");
  EXPECT_EQ(both.status, 409);
  EXPECT_EQ(ErrorCode(both), "ambiguous_device");
  EXPECT_NE(both.body.find("mlx5_0, mlx5_1"), std::string::npos);
  const RawReply none = Get("/api/v1/devices/mlx5_9");
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(ErrorCode(none), "unknown_device");
  for (const char* port : {"0", "2", "-1", "1x", "4294967297"}) {
    const RawReply reply = Get(std::string("/api/v1/ports/mlx5_0/") + port);
    EXPECT_EQ(reply.status, 404) << port;
    EXPECT_EQ(ErrorCode(reply), "unknown_port") << port;
  }
}

TEST_F(ReadRoutes, TablesPutProblemsFirst) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.ports[0].state = 1;
    device.ports[0].pauses.Set(PauseReason::kLink);
  });
  Hold hold;
  node_.holds->Pause(PortKey(second_, 2), "mlx5_1", "bad cable", "ops", std::nullopt, false, &hold);
  Start();
  const RawReply reply = Get("/api/v1/ports?format=text");
  EXPECT_EQ(reply.headers.at("content-type"), "text/plain; charset=utf-8");
  const size_t broken = reply.body.find("mlx5_0/1");
  const size_t held = reply.body.find("mlx5_1/2");
  const size_t fine = reply.body.find("mlx5_1/1");
  EXPECT_LT(broken, held);
  EXPECT_LT(held, fine);
  EXPECT_NE(reply.body.find("admin (bad cable) by ops"), std::string::npos);
  EXPECT_EQ(Get("/api/v1/ports", "Accept: text/plain\r\n").body, reply.body);
  EXPECT_EQ(Get("/api/v1/ports", "Accept: text/html, */*\r\n").body.front(), '{');
  EXPECT_EQ(Get("/api/v1/ports?format=xml").status, 400);
  EXPECT_NE(Get("/api/v1/devices?format=text").body.find("STATUS"), std::string::npos);
  EXPECT_NE(Get("/api/v1/holds?format=text").body.find("bad cable"), std::string::npos);
}

TEST_F(ReadRoutes, ErrorsOfPathsAndMethods) {
  Start();
  for (const char* path : {"/nope", "/api/v1/ports/", "/metrics/", "//metrics", "/./metrics",
                           "/../metrics", "/api/v1/streams", "/api/v1/events/", "/api/v1/audits",
                           "/api/v1/ports/mlx5_0/1/probe", "/api/v1/simulator"}) {
    const RawReply reply = Get(path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_EQ(ErrorCode(reply), "not_found") << path;
  }
  for (const char* path : {"/metrics%", "/metrics%0", "/%zz", "/api/v1/devices/%00",
                           "/api/v1/devices/a%2Fb", "/api/v1/devices/a%0d%0ab", "/%ff"}) {
    const RawReply reply = Get(path);
    EXPECT_EQ(reply.status, 400) << path;
    EXPECT_EQ(ErrorCode(reply), "malformed_path") << path;
  }
  const RawReply post = Send(admin(), "POST /metrics");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(ErrorCode(post), "method_not_allowed");
  EXPECT_EQ(Send(admin(), "GET /api/v1/release").headers.at("allow"), "POST");
  EXPECT_EQ(Send(admin(), "OPTIONS /metrics").status, 405);
  const RawReply unknown = Get("/api/v1/select?cuont=2");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_NE(unknown.body.find("cuont"), std::string::npos);
  EXPECT_EQ(Get("/metrics?collect=x").status, 200);
  EXPECT_EQ(Get("http://localhost/healthz").status, 200);
}

TEST_F(ReadRoutes, SelectIsInPciOrder) {
  node_.Add("mlx5_2", "0001:02:00.0");
  node_.Add("no_pci", "");
  Start();
  EXPECT_EQ(Get("/api/v1/select?format=ucx").body,
            "mlx5_1:1,mlx5_1:2,mlx5_0:1,mlx5_2:1,no_pci:1\n");
  EXPECT_EQ(Get("/api/v1/select?format=nccl&count=2").body, "=mlx5_1:1,mlx5_1:2\n");
  const RawReply reply = Get("/api/v1/select?count=9");
  EXPECT_EQ(reply.headers.at("x-nicmon-count"), "5");
  const Json json = Json::parse(reply.body);
  EXPECT_EQ(json["requested"], 9);
  EXPECT_EQ(json["available"], 5);
  EXPECT_EQ(json["ports"][2]["device"], "mlx5_0");
  EXPECT_EQ(json["ports"][0]["effective_speed_gbps"], 400);
  for (const char* query :
       {"count=0", "count=x", "count=-1", "numa=a", "sort=name", "format=xml", "count=1&count=2"}) {
    EXPECT_EQ(Get(std::string("/api/v1/select?") + query).status, 400) << query;
  }
}

TEST_F(ReadRoutes, SelectByEstimateAndNuma) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.identity.numa_node = 1;
    device.ports[0].estimate_bytes_per_second = 9e9;
  });
  node_.Change(second_, [](DeviceSnapshot& device) {
    device.identity.numa_node = 0;
    device.ports[1].estimate_bytes_per_second = 2e9;
  });
  Start();
  EXPECT_EQ(Get("/api/v1/select?format=ucx&sort=estimate").body, "mlx5_0:1,mlx5_1:2,mlx5_1:1\n");
  EXPECT_EQ(Get("/api/v1/select?format=ucx&numa=1").body, "mlx5_0:1\n");
  const RawReply none = Get("/api/v1/select?numa=7&format=nccl");
  EXPECT_EQ(none.status, 503);
  EXPECT_EQ(none.body, "");
  EXPECT_EQ(none.headers.at("x-nicmon-reason"), "no port on NUMA node 7 serves");
}

TEST_F(ReadRoutes, SelectLeavesOutWhatDoesNotServe) {
  Hold hold;
  node_.holds->Pause(PortKey(second_, 1), "mlx5_1", "x", "", std::nullopt, false, &hold);
  node_.Change(first_, [](DeviceSnapshot& device) { device.ports[0].stale = true; });
  Start();
  EXPECT_EQ(Get("/api/v1/select?format=ucx").body, "mlx5_1:2\n");
  node_.Change(second_, [](DeviceSnapshot& device) { device.ports[1].state = 1; });
  const RawReply none = Get("/api/v1/select");
  EXPECT_EQ(none.status, 503);
  EXPECT_EQ(none.headers.at("x-nicmon-reason"), "none of 3 ports serves: 2 up, 1 held");
}

}  // namespace
}  // namespace nicmon::http
