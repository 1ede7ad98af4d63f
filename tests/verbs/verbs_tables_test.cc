#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nicmon/verbs/drain.h"
#include "nicmon/verbs/events.h"
#include "nicmon/verbs/link_speed.h"

namespace nicmon {
namespace {

TEST(LinkSpeedTest, LaneSpeedOfEveryCode) {
  const std::pair<uint32_t, uint64_t> rows[] = {{1, 2'500},   {2, 5'000},     {4, 10'000},
                                                {8, 10'000},  {16, 14'000},   {32, 25'000},
                                                {64, 50'000}, {128, 100'000}, {256, 200'000}};
  for (const auto& [code, mbps] : rows) {
    EXPECT_EQ(LaneSpeedBps(code), mbps * 1'000'000) << code;
  }
}

TEST(LinkSpeedTest, UnknownSpeedCodesStayUnknown) {
  for (const uint32_t code : {0u, 3u, 5u, 127u, 512u, 0xffffffffu}) {
    EXPECT_EQ(LaneSpeedBps(code), std::nullopt) << code;
    EXPECT_EQ(LaneSpeedName(code), "") << code;
  }
}

TEST(LinkSpeedTest, Names) {
  EXPECT_EQ(LaneSpeedName(1), "SDR");
  EXPECT_EQ(LaneSpeedName(4), "QDR");
  EXPECT_EQ(LaneSpeedName(8), "FDR10");
  EXPECT_EQ(LaneSpeedName(16), "FDR");
  EXPECT_EQ(LaneSpeedName(128), "NDR");
  EXPECT_EQ(LaneSpeedName(256), "XDR");
}

TEST(LinkSpeedTest, LaneCounts) {
  EXPECT_EQ(LaneCount(1), 1u);
  EXPECT_EQ(LaneCount(2), 4u);
  EXPECT_EQ(LaneCount(4), 8u);
  EXPECT_EQ(LaneCount(8), 12u);
  EXPECT_EQ(LaneCount(16), 2u);
  for (const uint32_t code : {0u, 3u, 5u, 12u, 32u, 255u}) {
    EXPECT_EQ(LaneCount(code), std::nullopt) << code;
  }
}

TEST(LinkSpeedTest, MtuBytes) {
  EXPECT_EQ(MtuBytes(1), 256u);
  EXPECT_EQ(MtuBytes(3), 1024u);
  EXPECT_EQ(MtuBytes(5), 4096u);
  EXPECT_EQ(MtuBytes(0), std::nullopt);
  EXPECT_EQ(MtuBytes(6), std::nullopt);
  EXPECT_EQ(MtuBytes(-1), std::nullopt);
}

TEST(EventTypesTest, RowsStandAtTheirNumberWithUniqueNames) {
  std::set<std::string_view> names;
  for (int number = 0; number < kEventTypeCount; ++number) {
    const EventType* row = FindEventType(number);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->number, number);
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
  }
  EXPECT_EQ(FindEventType(-1), nullptr);
  EXPECT_EQ(FindEventType(kEventTypeCount), nullptr);
}

TEST(EventTypesTest, PortScopedAreExactlyThoseThatCarryAPort) {
  std::set<int> port_scoped;
  for (const EventType& row : EventTypes()) {
    if (row.scope == EventScope::kPort) {
      port_scoped.insert(row.number);
    }
  }
  EXPECT_EQ(port_scoped, (std::set<int>{9, 10, 11, 12, 13, 17, 18}));
}

TEST(EventTypesTest, DeviceEvents) {
  EXPECT_EQ(FindEventType(8)->name, "device_fatal");
  EXPECT_EQ(FindEventType(8)->scope, EventScope::kDevice);
  EXPECT_EQ(FindEventType(20)->name, "device_speed_change");
  EXPECT_EQ(FindEventType(20)->scope, EventScope::kDevice);
}

TEST(CopyEventTest, ReadsThePortOfPortEventsOnly) {
  ibv_async_event raw{};
  raw.event_type = IBV_EVENT_PORT_ERR;
  raw.element.port_num = 2;
  EXPECT_EQ(CopyEvent(raw).type, 10);
  EXPECT_EQ(CopyEvent(raw).port, 2);

  // The pointer of a QP event must not show up as a port number, nor an element that is not valid.
  for (const int type : {4, 8, 16, 19, 20, 21, 31}) {
    raw.element.qp = reinterpret_cast<ibv_qp*>(uintptr_t{0x1234});
    raw.event_type = static_cast<ibv_event_type>(type);
    EXPECT_EQ(CopyEvent(raw).port, 0) << type;
  }
}

}  // namespace
}  // namespace nicmon
