#include "monitor/holds_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kFile[] = R"({
  "version": 3,
  "next_hold": 4,
  "devices": [
    {
      "name": "mlx5_0",
      "node_guid": "0c42:a103:0065:4ba2",
      "pci_address": "0000:3b:00.0",
      "machine_id": "m",
      "orphaned_since": "2026-01-02T00:00:00.000Z",
      "release": {
        "reason": "driver",
        "by": "ann",
        "since": "2026-01-01T00:00:00.000Z",
        "until": "2026-01-01T01:00:00.000Z",
        "boot_id": "b",
        "ticket": 7
      },
      "ports": [
        {
          "port": 2,
          "required": true,
          "baseline_speed_bps": 400000000000,
          "hold": {
            "id": "h3",
            "reason": "bad \"cable\" ☂",
            "by": "ann",
            "since": "2026-01-01T00:00:00.001Z",
            "until": null,
            "device": "mlx5_0",
            "severity": {
              "level": 3
            }
          },
          "colour": "red"
        }
      ],
      "rack": [
        1,
        2
      ]
    }
  ],
  "signature": "x"
}
)";

WallTime At(const std::string& text) {
  return ParseRfc3339(text).value();
}

TEST(HoldsTextTest, WhatANewerVersionWroteComesBackWordForWord) {
  const HoldsRead read = ReadHolds(kFile);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(HoldsText(read.state), kFile);
}

TEST(HoldsTextTest, ReadsEveryField) {
  const HoldsSnapshot state = ReadHolds(kFile).state;
  EXPECT_EQ(state.next_hold, 4U);
  ASSERT_EQ(state.kept.size(), 1U);
  const KeptDevice& device = state.kept.begin()->second;
  EXPECT_EQ(device.key, (DeviceKey{"0c42:a103:0065:4ba2", "0000:3b:00.0"}));
  EXPECT_EQ(device.machine_id, "m");
  EXPECT_EQ(device.orphaned_since, At("2026-01-02T00:00:00Z"));
  EXPECT_EQ(device.release->until, At("2026-01-01T01:00:00Z"));
  EXPECT_EQ(device.release->boot_id, "b");
  const KeptPort& port = device.ports.at(2);
  EXPECT_EQ(port.record, (PortRecord{true, 400'000'000'000}));
  EXPECT_EQ(port.hold->id, "h3");
  EXPECT_EQ(port.hold->reason, "bad \"cable\" ☂");
  EXPECT_EQ(port.hold->since, At("2026-01-01T00:00:00.001Z"));
  EXPECT_EQ(port.hold->until, std::nullopt);
}

TEST(HoldsTextTest, NoFileYetIsAnEmptyState) {
  const HoldsRead read = ReadHolds("{}");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_TRUE(read.state.kept.empty());
}

TEST(HoldsTextTest, WhatWillNotBeKnownAgainIsLeftOut) {
  HoldsSnapshot state;
  state.kept[1].ports[1].record.required = true;  // no key
  state.kept[2].key.node_guid = "1:2:3:4";        // nothing kept
  state.kept[3].key.node_guid = "1:2:3:5";
  state.kept[3].ports[1];  // nothing kept of this port
  state.kept[3].ports[2].record.required = true;
  const HoldsSnapshot read = ReadHolds(HoldsText(state)).state;
  ASSERT_EQ(read.kept.size(), 1U);
  EXPECT_EQ(read.kept.begin()->second.ports.size(), 1U);
}

TEST(HoldsTextTest, BytesThatAreNotUtf8DoNotCostTheFile) {
  HoldsSnapshot state;
  state.kept[1].key.node_guid = "1:2:3:4";
  state.kept[1].ports[1].hold = Hold{"h1", {0, 1}, "\xff", "a\xc3", "\x01", {}, {}, {}};
  const HoldsRead read = ReadHolds(HoldsText(state));
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.state.kept.begin()->second.ports.at(1).hold->by, "\x01");
}

TEST(HoldsTextTest, WhatIsNotJsonIsOneProblem) {
  for (const std::string text : {"", "{", "not json", "\0", "{\"devices\":[{\"name\":\"a\","}) {
    EXPECT_THAT(ReadHolds(text).problems, ElementsAre(HasSubstr("not JSON"))) << text;
  }
  for (const std::string text : {"[]", "7", "null", "\"x\""}) {
    EXPECT_THAT(ReadHolds(text).problems, Not(IsEmpty())) << text;
  }
}

TEST(HoldsTextTest, WhatIsWrongInOnePlaceDoesNotHideTheRest) {
  const HoldsRead read = ReadHolds(R"({"devices": [
      5,
      {"name": "keyless", "ports": [{"port": 1, "hold": {"id": "h1"}}]},
      {"name": "a", "node_guid": "1:1:1:1", "release": {"reason": "no end"}, "ports": [
          {"port": 0}, {"port": "1"}, {"port": -1}, "x",
          {"port": 3, "required": 1, "baseline_speed_bps": "fast",
           "hold": {"reason": 7, "until": "tomorrow"}}]}]})",
                                   "x4k9w");
  EXPECT_THAT(
      read.problems,
      ElementsAre("device : is no object",
                  "device keyless: has neither a node_guid nor a "
                  "pci_address",
                  "release of a: has no end", "a port of a: has no number",
                  "a port of a: port is no whole number", "a port of a: has no number",
                  "a port of a: port is no whole number", "a port of a: has no number",
                  "a port of a: is no object", "a port of a: baseline_speed_bps is no whole number",
                  "hold of a port 3: reason is no text",
                  "hold of a port 3: until is no RFC 3339 time"));
  ASSERT_EQ(read.state.kept.size(), 1U);
  const KeptPort& port = read.state.kept.begin()->second.ports.at(3);
  ASSERT_TRUE(port.hold.has_value()) << "in doubt it stays held";
  EXPECT_EQ(port.hold->until, std::nullopt);
  EXPECT_EQ(port.hold->id, "hx4k9w-1") << "a hold without an id gets one";
}

TEST(HoldsTextTest, IdsAreNeverUsedTwice) {
  const auto next = [](const std::string& id) {
    return ReadHolds(R"({"next_hold": 2, "devices": [{"node_guid": "1:1:1:1", "ports": [)"
                     R"({"port": 1, "hold": {"id": ")" +
                     id + R"("}}]}]})")
        .state.next_hold;
  };
  EXPECT_EQ(next("h7"), 8U);
  EXPECT_EQ(next("h1"), 2U);
  EXPECT_EQ(next("hx4k9w-7"), 8U);
  EXPECT_EQ(next("hx4k9w-"), 2U);
  EXPECT_EQ(next("h"), 2U);
  EXPECT_EQ(next("by hand"), 2U);
  EXPECT_EQ(next("h99999999999999999999999"), 2U);
}

}  // namespace
}  // namespace nicmon
