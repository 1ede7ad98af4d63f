#include "nicmon/device/gid.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kIb = IBV_GID_TYPE_IB;
constexpr uint32_t kV1 = IBV_GID_TYPE_ROCE_V1;
constexpr uint32_t kV2 = IBV_GID_TYPE_ROCE_V2;

GidEntry Entry(uint32_t index, const char* address, uint32_t type = kV2, uint32_t port = 1) {
  GidEntry entry;
  EXPECT_EQ(::inet_pton(AF_INET6, address, entry.gid.raw), 1);
  entry.index = index;
  entry.port = port;
  entry.type = type;
  return entry;
}

GidTable Table(std::vector<GidEntry> entries, uint32_t length = 16) {
  GidTable table;
  table.length = length;
  table.entries = std::move(entries);
  return table;
}

GidNetdev Netdevs(std::map<uint32_t, std::string> names) {
  return [names = std::move(names)](uint32_t index) {
    const auto found = names.find(index);
    return found == names.end() ? std::string() : found->second;
  };
}

constexpr char kRoutable[] = "::ffff:198.51.100.7";
constexpr char kPrivate[] = "::ffff:10.1.2.3";
constexpr char kLinkLocal[] = "fe80::1";

TEST(GidRank, Classes) {
  EXPECT_EQ(GidRank(Entry(0, kRoutable), "eth0"), 0);
  EXPECT_EQ(GidRank(Entry(0, kRoutable), ""), 1);
  EXPECT_EQ(GidRank(Entry(0, kPrivate), "eth0"), 2);
  EXPECT_EQ(GidRank(Entry(0, kLinkLocal), "eth0"), 3);
  EXPECT_EQ(GidRank(Entry(0, kPrivate), ""), 4);
  EXPECT_EQ(GidRank(Entry(0, kLinkLocal), ""), 5);
  EXPECT_EQ(GidRank(Entry(0, kRoutable, kV1), "eth0"), 6);
}

TEST(GidRank, PrivateIpv4IsTheThreeRanges) {
  for (const char* address : {"::ffff:10.0.0.0", "::ffff:10.255.255.255", "::ffff:172.16.0.1",
                              "::ffff:172.31.255.255", "::ffff:192.168.0.1"}) {
    EXPECT_EQ(GidRank(Entry(0, address), "eth0"), 2) << address;
  }
  for (const char* address :
       {"::ffff:11.0.0.0", "::ffff:9.255.255.255", "::ffff:172.15.0.1", "::ffff:172.32.0.1",
        "::ffff:192.169.0.1", "fd00::1", "2001:db8::1", "fec0::1", "::10.0.0.1"}) {
    EXPECT_EQ(GidRank(Entry(0, address), "eth0"), 0) << address;
  }
}

TEST(GidRank, LinkLocal) {
  EXPECT_EQ(GidRank(Entry(0, "febf::1"), "eth0"), 3);
  EXPECT_EQ(GidRank(Entry(0, "::ffff:169.254.0.1"), "eth0"), 3);
  // On InfiniBand fe80:: is how every GID begins.
  EXPECT_EQ(GidRank(Entry(0, "fe80::5:5", kIb), ""), 1);
}

TEST(GidRank, OverlayNames) {
  for (const char* name : {"flannel.1", "cni0", "cali1234", "vxlan.calico", "docker0", "tunl0"}) {
    EXPECT_EQ(GidRank(Entry(0, kRoutable), name), 3) << name;
    EXPECT_EQ(GidRank(Entry(0, kPrivate), name), 3) << name;
  }
  for (const char* name : {"eth0", "ens1f0np0", "veth1", "bond0", "mycni0"}) {
    EXPECT_EQ(GidRank(Entry(0, kRoutable), name), 0) << name;
  }
}

TEST(ChooseGid, TheBestClassThenTheLowestIndex) {
  const GidTable table = Table({Entry(0, kLinkLocal, kV1), Entry(1, kLinkLocal), Entry(2, kPrivate),
                                Entry(3, kRoutable), Entry(4, "2001:db8::1"), Entry(5, "2001::2")});
  const GidChoice choice =
      ChooseGid(table, Netdevs({{1, "eth0"}, {2, "eth0"}, {4, "eth0"}, {5, "eth0"}}));
  ASSERT_TRUE(choice.gid);
  EXPECT_EQ(choice.gid->index, 4U);
  EXPECT_EQ(choice.gid->netdev, "eth0");
  EXPECT_EQ(choice.gid->type, kV2);
  EXPECT_EQ(choice.gid->bytes[0], 0x20);
  EXPECT_EQ(choice.absence, GidAbsence::kNone);
  EXPECT_EQ(choice.Note(), "");
}

TEST(ChooseGid, ZeroGidsAreNoGids) {
  const GidChoice choice = ChooseGid(Table({Entry(0, "::"), Entry(1, kLinkLocal, kV1)}), {});
  ASSERT_TRUE(choice.gid);
  EXPECT_EQ(choice.gid->index, 1U);
}

TEST(ChooseGid, InfinibandIsNotAskedForANetdev) {
  int asked = 0;
  const auto netdev = [&](uint32_t) {
    ++asked;
    return std::string("ib0");
  };
  const GidChoice choice = ChooseGid(Table({Entry(0, kLinkLocal, kIb)}), netdev);
  ASSERT_TRUE(choice.gid);
  EXPECT_EQ(choice.gid->netdev, "");
  EXPECT_EQ(asked, 0);
}

TEST(ChooseGid, SaysWhyThereIsNone) {
  EXPECT_EQ(ChooseGid(Table({}), {}).absence, GidAbsence::kEmptyTable);
  EXPECT_EQ(ChooseGid(Table({Entry(0, "::")}), {}).absence, GidAbsence::kAllNull);
  GidTable failed = Table({});
  failed.all_failed = true;
  failed.error = EIO;
  const GidChoice choice = ChooseGid(failed, {});
  EXPECT_EQ(choice.absence, GidAbsence::kQueriesFailed);
  EXPECT_EQ(choice.error, EIO);
  EXPECT_THAT(choice.Note(), HasSubstr("EIO"));
  GidTable partly = Table({Entry(0, "::")});
  partly.failed = {3};
  partly.error = ETIMEDOUT;
  EXPECT_EQ(ChooseGid(partly, {}).absence, GidAbsence::kQueriesFailed);
}

TEST(ChooseGid, ExplicitIndex) {
  GidTable table = Table({Entry(0, kRoutable), Entry(2, kLinkLocal, kV1), Entry(3, "::")}, 8);
  table.failed = {5};
  table.error = EIO;
  ASSERT_TRUE(ChooseGid(table, {}, 2).gid);
  EXPECT_EQ(ChooseGid(table, {}, 2).gid->index, 2U);
  EXPECT_EQ(ChooseGid(table, {}, 1).absence, GidAbsence::kIndexEmpty);
  EXPECT_EQ(ChooseGid(table, {}, 3).absence, GidAbsence::kIndexEmpty);
  EXPECT_EQ(ChooseGid(table, {}, 5).absence, GidAbsence::kQueriesFailed);
  EXPECT_EQ(ChooseGid(table, {}, 8).absence, GidAbsence::kIndexOutOfRange);
  EXPECT_EQ(ChooseGid(table, {}, UINT32_MAX).absence, GidAbsence::kIndexOutOfRange);
}

TEST(CompareGid, IdentityIsIndexAndBytes) {
  const auto choose = [](const GidTable& table) { return ChooseGid(table, {}); };
  const GidTable before = Table({Entry(1, kRoutable)});
  const std::optional<Gid> gid = choose(before).gid;
  EXPECT_EQ(CompareGid(gid, before, choose(before)), GidRescan::kUnchanged);
  const GidTable moved = Table({Entry(2, kRoutable)});
  EXPECT_EQ(CompareGid(gid, moved, choose(moved)), GidRescan::kChanged);
  const GidTable other = Table({Entry(1, "2001:db8::9")});
  EXPECT_EQ(CompareGid(gid, other, choose(other)), GidRescan::kChanged);
  const GidTable empty = Table({});
  EXPECT_EQ(CompareGid(gid, empty, choose(empty)), GidRescan::kChanged);
  EXPECT_EQ(CompareGid(std::nullopt, empty, choose(empty)), GidRescan::kUnchanged);
  EXPECT_EQ(CompareGid(std::nullopt, before, choose(before)), GidRescan::kChanged);
}

TEST(CompareGid, FailedIsNeverTakenForUnchanged) {
  const std::optional<Gid> gid = ChooseGid(Table({Entry(1, kRoutable)}), {}).gid;
  GidTable failed = Table({});
  failed.all_failed = true;
  failed.error = EIO;
  EXPECT_EQ(CompareGid(gid, failed, ChooseGid(failed, {})), GidRescan::kFailed);
  EXPECT_EQ(CompareGid(std::nullopt, failed, ChooseGid(failed, {})), GidRescan::kFailed);
  // Our slot could not be read, another one could: that says nothing about ours.
  GidTable partly = Table({Entry(2, kLinkLocal)});
  partly.failed = {1};
  partly.error = EIO;
  EXPECT_EQ(CompareGid(gid, partly, ChooseGid(partly, {})), GidRescan::kFailed);
  // Another slot could not be read: ours was.
  GidTable elsewhere = Table({Entry(1, kRoutable)});
  elsewhere.failed = {7};
  elsewhere.error = EIO;
  EXPECT_EQ(CompareGid(gid, elsewhere, ChooseGid(elsewhere, {})), GidRescan::kUnchanged);
}

class ReadGidTableTest : public ::testing::Test {
 protected:
  GidTable Read(uint32_t length = 8) { return ReadGidTable(api_, &context_, 1, length, 2); }
  static std::vector<uint32_t> Indexes(const GidTable& table) {
    std::vector<uint32_t> indexes;
    for (const GidEntry& entry : table.entries) {
      indexes.push_back(entry.index);
    }
    return indexes;
  }

  ibv_context context_{};
  VerbsApi api_;
  int slots_asked_ = 0;
  std::map<uint32_t, int> slot_errors_;  // others are filled
  void SetUp() override {
    api_.query_gid = [this](ibv_context*, uint32_t port, uint32_t index, GidEntry* out) {
      ++slots_asked_;
      const auto error = slot_errors_.find(index);
      if (error != slot_errors_.end()) {
        return error->second;
      }
      *out = Entry(index, kRoutable, kV2, port);
      return 0;
    };
  }
};

TEST_F(ReadGidTableTest, TheWholeTableInOneCall) {
  size_t room = 0;
  api_.query_gid_table = [&](ibv_context*, size_t max, std::vector<GidEntry>* out) {
    room = max;
    *out = {Entry(5, kPrivate), Entry(0, kRoutable, kV2, 2), Entry(3, kRoutable)};
    return 0;
  };
  const GidTable table = Read();
  EXPECT_EQ(room, 16U);  // both ports'
  EXPECT_THAT(Indexes(table), ElementsAre(3, 5));
  EXPECT_EQ(table.error, 0);
  EXPECT_EQ(slots_asked_, 0);
}

TEST_F(ReadGidTableTest, SlotBySlotWhereTheTableCallIsUnsupported) {
  slot_errors_ = {{0, ENODATA}, {2, ENODATA}, {3, EIO}};
  for (const int error : {ENOSYS, EOPNOTSUPP, EPROTONOSUPPORT, ENOTTY, 0}) {
    api_.query_gid_table = [=](ibv_context*, size_t, std::vector<GidEntry>*) { return error; };
    if (error == 0) {
      api_.query_gid_table = nullptr;
    }
    const GidTable table = Read(6);
    EXPECT_THAT(Indexes(table), ElementsAre(1, 4, 5));
    EXPECT_THAT(table.failed, ElementsAre(3));
    EXPECT_EQ(table.error, EIO);
  }
}

TEST_F(ReadGidTableTest, AFailureOfTheTableCallIsAFailure) {
  api_.query_gid_table = [](ibv_context*, size_t, std::vector<GidEntry>*) { return EIO; };
  const GidTable table = Read();
  EXPECT_TRUE(table.all_failed);
  EXPECT_TRUE(table.Failed(3));
  EXPECT_EQ(table.error, EIO);
  EXPECT_EQ(slots_asked_, 0);
}

TEST_F(ReadGidTableTest, EmptySlotsAreNoFailures) {
  for (uint32_t i = 0; i < 1024; ++i) {
    slot_errors_[i] = ENODATA;
  }
  const GidTable table = Read(1024);
  EXPECT_EQ(slots_asked_, 1024);
  EXPECT_EQ(table.error, 0);
  EXPECT_EQ(ChooseGid(table, {}).absence, GidAbsence::kEmptyTable);
}

TEST_F(ReadGidTableTest, ADeadDeviceIsNotAskedForEverySlot) {
  for (uint32_t i = 2; i < 1024; ++i) {
    slot_errors_[i] = EIO;
  }
  const GidTable table = Read(1024);
  EXPECT_LT(slots_asked_, 20);
  EXPECT_TRUE(table.Failed(2));
  EXPECT_TRUE(table.Failed(1023));
  EXPECT_FALSE(table.Failed(1));
}

TEST_F(ReadGidTableTest, NoSlotsNoCalls) {
  api_.query_gid_table = [](ibv_context*, size_t, std::vector<GidEntry>*) { return EIO; };
  EXPECT_EQ(ChooseGid(Read(0), {}).absence, GidAbsence::kEmptyTable);
}

}  // namespace
}  // namespace nicmon
