#include <nlohmann/json.hpp>

#include "http/read_fixture.h"

// Metrics, health and select, and what read routes have in common: paths, methods, names of
// devices.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;

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
  EXPECT_EQ(Json::parse(Get("/readyz").body)["note"], "the first look for devices is not over");
  node_.discovered = true;
  RawReply reply = Get("/readyz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(Json::parse(reply.body)["ports_up"], 3);
  EXPECT_EQ(Json::parse(reply.body).at("note"), nullptr);
  node_.Change(first_, [](DeviceSnapshot& device) { device.ports[0].state = 1; });
  reply = Get("/readyz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.count("retry-after"), 1U);
  const Json json = Json::parse(reply.body);
  EXPECT_EQ(json["ports_up"], 2);
  EXPECT_EQ(json["ports_expected"], 3);
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["note"], "2 of 3 expected ports up: mlx5_0/1 down");
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

TEST_F(ReadRoutes, ErrorsOfPathsAndMethods) {
  Start();
  for (const char* path : {"/nope", "/api/v1/ports/", "/metrics/", "//metrics", "/./metrics",
                           "/../metrics", "/api/v1/streams", "/api/v1/events/", "/api/v1/audits",
                           "/api/v1/ports/mlx5_0/1/poke", "/api/v1/simulator"}) {
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
