#include <nlohmann/json.hpp>

#include "http/read_fixture.h"

// Ports, devices, holds and the node as JSON and as tables.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;

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
  EXPECT_EQ(other["gid"]["note"], nullptr);
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
    StatsSample& sample = device.ports[0].stats.emplace();
    sample.round =
        std::make_shared<StatsRound>(StatsRound{std::make_shared<StatsLayout>(), {}, {}});
    sample.rx_bytes_per_second = 12.5e9 + 1.25;  // nobody wants to read the ten bits
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

TEST_F(ReadRoutes, ADeviceSaysWhyItCannotBeProbed) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.data_path = {DataPathMode::kAlways, false, "create_cq: ENOMEM"};
  });
  node_.Change(second_, [](DeviceSnapshot& device) {
    device.detail = "no such file";
    device.data_path.note = "alloc_pd: EIO";
  });
  Start();
  EXPECT_EQ(GetJson("/api/v1/devices/mlx5_0")["data_path"],
            Json::parse(R"({"mode":"always","ready":false,"reason":"create_cq: ENOMEM"})"));
  EXPECT_EQ(GetJson("/api/v1/devices/mlx5_1")["data_path"]["ready"], nullptr);
  const std::string table = Get("/api/v1/devices?format=text").body;
  EXPECT_NE(table.find("  no data path: create_cq: ENOMEM\n"), std::string::npos) << table;
  EXPECT_NE(table.find("  no such file; no data path: alloc_pd: EIO\n"), std::string::npos)
      << table;
  node_.Change(first_, [](DeviceSnapshot& device) { device.data_path = {}; });
  EXPECT_EQ(GetJson("/api/v1/devices/mlx5_0")["data_path"],
            Json::parse(R"({"mode":"on-demand","ready":null,"reason":null})"));
}

TEST_F(ReadRoutes, TablesTakeAnyScriptButNothingThatSteersATerminal) {
  node_.Change(first_, [](DeviceSnapshot& device) {
    device.identity.board_id = "電纜";
    device.identity.driver = "a\x1b[2Jb\u202ec";
  });
  Start();
  const std::string table = Get("/api/v1/devices/mlx5_0?format=text").body;
  EXPECT_NE(table.find("  a?[2Jb?c  "), std::string::npos) << table;
  EXPECT_NE(table.find("  電纜   -  "), std::string::npos) << "four columns under BOARD's five";
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

}  // namespace
}  // namespace nicmon::http
