#include <stdexcept>

#include "nicmon/verbs/link_speed.h"
#include "sim/sim_testing.h"

namespace nicmon {
namespace {

TEST(SimSpecTest, Defaults) {
  std::string error;
  const auto spec = ParseSimulationSpec("", &error);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->names, (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(spec->ports, 1u);
  EXPECT_EQ(spec->speed_gbps, 400u);
  EXPECT_FALSE(spec->infiniband);
}

TEST(SimSpecTest, EveryKey) {
  std::string error;
  auto spec = ParseSimulationSpec("devices=8,ports=2,speed=800,link=ib", &error);
  ASSERT_TRUE(spec) << error;
  EXPECT_EQ(spec->names.size(), 8u);
  EXPECT_EQ(spec->names[7], "mlx5_7");
  EXPECT_EQ(spec->ports, 2u);
  EXPECT_EQ(spec->speed_gbps, 800u);
  EXPECT_TRUE(spec->infiniband);
  spec = ParseSimulationSpec("names=ibp1s0+rocep3s0f0", &error);
  ASSERT_TRUE(spec) << error;
  EXPECT_EQ(spec->names, (std::vector<std::string>{"ibp1s0", "rocep3s0f0"}));
}

TEST(SimSpecTest, WrongOnesNameTheItemAndWhatIsAccepted) {
  for (const char* text : {"devices=0",         "devices=65", "devices=x",
                           "devices",           "devices=-1", "devices= 2",
                           "ports=0",           "ports=17",   "speed=123",
                           "speed=0",           "link=fc",    "names=",
                           "names=a+",          "names=a+a",  "names=a/b",
                           "names=..",          "color=red",  "devices=2,devices=3",
                           "devices=2,names=a", ","}) {
    std::string error;
    EXPECT_FALSE(ParseSimulationSpec(text, &error)) << text;
    EXPECT_NE(error.find("accepted:"), std::string::npos) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
}

TEST(SimSpecTest, ImpossibleSpecificationThrows) {
  EXPECT_THROW(SimulatedRnic({.names = {"a"}, .speed_gbps = 123}), std::invalid_argument);
  EXPECT_THROW(SimulatedRnic({.names = {"a"}, .ports = 0}), std::invalid_argument);
  EXPECT_THROW(SimulatedRnic({.names = {"a", "a"}}), std::invalid_argument);
  EXPECT_THROW(SimulatedRnic({.names = {""}}), std::invalid_argument);
  EXPECT_THROW(SimulatedRnic({.names = {std::string(64, 'a')}}), std::invalid_argument);
}

TEST(SimSpecTest, SpeedsComeOutExactly) {
  for (const uint64_t gbps : {10u, 25u, 40u, 50u, 56u, 100u, 200u, 400u, 800u, 1600u}) {
    SimulatedRnic rnic({.names = {"a"}, .speed_gbps = gbps});
    const auto verbs = rnic.verbs();
    int error = 0;
    const DeviceList list = DeviceList::Get(verbs, &error);
    const ContextHandle context = OpenDevice(verbs, list.devices()[0], &error);
    PortAttributes port;
    ASSERT_EQ(verbs->query_port(context.get(), 1, &port), 0);
    EXPECT_EQ(*LaneSpeedBps(port.active_speed_ex) * *LaneCount(port.active_width),
              gbps * 1'000'000'000);
    EXPECT_LE(port.active_speed, 128u);
    uint64_t speed = 0;
    ASSERT_EQ(verbs->query_port_speed(context.get(), 1, &speed), 0);
    EXPECT_EQ(speed, gbps * 10);
  }
}

}  // namespace
}  // namespace nicmon
