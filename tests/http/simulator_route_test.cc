#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "http/http_test.h"

// POST /api/v1/simulator, from JSON to commands.
namespace nicmon::http {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

class SimulatorRoute : public HttpTest {
 protected:
  SimulatorRoute() { node_.with_simulator = true; }
  RawReply Simulate(const std::string& body) {
    return Send(admin(), "POST /api/v1/simulator", "Content-Type: application/json\r\n", body);
  }
};

TEST_F(SimulatorRoute, DecodesWhatTheContractShows) {
  Start();
  const RawReply reply = Simulate(R"([
    {"device":"mlx5_0","port":1,"set":{"state":"down","physical_state":"polling",
     "effective_speed_gbps":2.5,"active_speed":64,"active_width":2,
     "counters":{"link_downed":3}},"event":"PORT_ERR","repeat":2},
    {"device":"a","fail":{"verb":"query_port","errno":"EIO","times":3}},
    {"device":"b","hang":{"verb":"open_device","seconds":0.5}},
    {"device":"c","unplug":true,"silent":true},
    {"device":"d","plug":true,"event":99},
    {"device":"e","rename":"f","fail":{"verb":"x","errno":7,"skip":2}}])");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["applied"], 6);
  ASSERT_EQ(node_.simulated.size(), 6U);
  const SimCommand& set = node_.simulated[0];
  EXPECT_EQ(set.port, 1U);
  EXPECT_EQ(set.state, 1);
  EXPECT_EQ(set.physical_state, 2);
  EXPECT_EQ(set.effective_speed_100mbps, 25U);
  EXPECT_EQ(set.active_speed, 64U);
  EXPECT_EQ(set.active_width, 2U);
  EXPECT_EQ(set.counters.at("link_downed"), 3U);
  EXPECT_EQ(set.event, 10);
  EXPECT_EQ(set.repeat, 2U);
  EXPECT_EQ(node_.simulated[1].fail->error, EIO);
  EXPECT_EQ(node_.simulated[1].fail->times, 3U);
  EXPECT_EQ(node_.simulated[2].hang->duration, milliseconds(500));
  EXPECT_TRUE(node_.simulated[3].unplug && node_.simulated[3].silent);
  EXPECT_TRUE(node_.simulated[4].plug);
  EXPECT_EQ(node_.simulated[4].event, 99);
  EXPECT_EQ(node_.simulated[5].rename, "f");
  EXPECT_EQ(node_.simulated[5].fail->error, 7);
  EXPECT_EQ(node_.simulated[5].fail->skip, 2U);
}

TEST_F(SimulatorRoute, RefusesWhatItDoesNotKnowAndDoesNothing) {
  Start();
  for (const char* body :
       {"", "7", "{}", R"({"device":7})", R"({"device":"a","prot":1})",
        R"({"device":"a","set":{"sate":1}})", R"({"device":"a","set":{"state":"upp"}})",
        R"({"device":"a","event":"PORT_EXPLODED"})", R"({"device":"a","event":-1})",
        R"({"device":"a","fail":{"verb":"x","errno":"EWHAT"}})",
        R"({"device":"a","fail":{"errno":5}})", R"({"device":"a","hang":{"verb":"x"}})",
        R"({"device":"a","unplug":"yes"})", R"([{"device":"a"},{"device":"b","x":1}])",
        R"({"device":"a","device":"b"})", R"({"device":"a","set":{"counters":{"x":-1}}})"}) {
    EXPECT_EQ(Simulate(body).status, 400) << body;
  }
  EXPECT_TRUE(node_.simulated.empty());
  EXPECT_NE(Simulate(R"([{"device":"a"},{"device":"b","x":1}])").body.find("command 1"),
            std::string::npos);
}

TEST_F(SimulatorRoute, AListStopsAtTheFirstError) {
  node_.simulate_error = "no such port";
  Start();
  const RawReply reply = Simulate(R"([{"device":"a"},{"device":"b"},{"device":"c"}])");
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find("command 1: no such port"), std::string::npos) << reply.body;
  EXPECT_EQ(node_.simulated.size(), 1U);
}

}  // namespace
}  // namespace nicmon::http
