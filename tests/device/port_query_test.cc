#include "nicmon/device/port_query.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace nicmon {
namespace {

constexpr uint64_t kGbps = 1'000'000'000;

/// One port behind a VerbsApi of two functions.
class PortQueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    attributes_.state = IBV_PORT_ACTIVE;
    attributes_.physical_state = 5;
    attributes_.link_layer = IBV_LINK_LAYER_ETHERNET;
    attributes_.active_speed = 64;
    attributes_.active_width = 2;
    api_.query_port = [this](ibv_context*, uint32_t, PortAttributes* out) {
      ++queries_;
      *out = attributes_;
      return query_error_;
    };
    UseVerb();
  }
  void UseVerb() {
    api_.query_port_speed = [this](ibv_context*, uint32_t, uint64_t* out) {
      ++verb_calls_;
      if (verb_error_ == 0) {
        *out = verb_value_;
      }
      return verb_error_;
    };
  }
  PortReading Query(uint32_t port = 1) { return QueryPort(api_, &context_, port, policy_, now_); }
  void Advance(Duration by) { now_ += by; }

  ibv_context context_{};
  VerbsApi api_;
  PortAttributes attributes_;
  int query_error_ = 0, queries_ = 0;
  int verb_error_ = 0, verb_calls_ = 0;
  uint64_t verb_value_ = 2000;
  std::optional<uint64_t> netdev_, bond_;
  int netdev_reads_ = 0, bond_reads_ = 0;
  SteadyTime now_{};
  SpeedPolicy policy_{"x",
                      {[this](uint32_t) {
                         ++netdev_reads_;
                         return netdev_;
                       },
                       [this](uint32_t) {
                         ++bond_reads_;
                         return bond_;
                       }}};
};

std::optional<EffectiveSpeed> Speed(uint64_t gbps, SpeedSource source) {
  return EffectiveSpeed{gbps * kGbps, source};
}

TEST_F(PortQueryTest, TheVerbDecides) {
  verb_value_ = 4000;  // a LAG of two
  const PortReading reading = Query();
  EXPECT_EQ(reading.error, 0);
  EXPECT_TRUE(reading.active());
  EXPECT_EQ(reading.effective, Speed(400, SpeedSource::kVerb));
  EXPECT_EQ(reading.nominal_bps, 200 * kGbps);
  EXPECT_EQ(reading.lanes, 4U);
  EXPECT_EQ(reading.lane_name, "HDR");
  EXPECT_EQ(reading.speed_error, 0);
}

TEST_F(PortQueryTest, ValuesAreNotCapped) {
  verb_value_ = 16000;
  EXPECT_EQ(Query().effective, Speed(1600, SpeedSource::kVerb));
  verb_value_ = 25;
  EXPECT_EQ(Query().effective, (EffectiveSpeed{2'500'000'000, SpeedSource::kVerb}));
}

TEST_F(PortQueryTest, AValueThatCannotBeIsAFailure) {
  Query();
  verb_value_ = UINT64_MAX;
  const PortReading reading = Query();
  EXPECT_EQ(reading.speed_error, ERANGE);
  EXPECT_EQ(reading.effective, Speed(200, SpeedSource::kVerb));
}

TEST_F(PortQueryTest, NotSupportedIsDecidedOnce) {
  for (const int error : {ENOSYS, EOPNOTSUPP, EPROTONOSUPPORT, ENOTTY}) {
    policy_ = SpeedPolicy("x");
    verb_calls_ = 0;
    verb_error_ = error;
    PortReading reading = Query();
    EXPECT_EQ(reading.effective, Speed(200, SpeedSource::kEncoded));
    EXPECT_EQ(reading.speed_error, 0);
    EXPECT_TRUE(policy_.verb_absent());
    verb_error_ = 0;
    reading = Query(2);
    EXPECT_EQ(reading.effective, Speed(200, SpeedSource::kEncoded));
    EXPECT_EQ(verb_calls_, 1) << error;
  }
}

TEST_F(PortQueryTest, NoSymbolIsNotSupported) {
  api_.query_port_speed = nullptr;
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kEncoded));
  EXPECT_TRUE(policy_.verb_absent());
}

TEST_F(PortQueryTest, ATransientErrorKeepsTheLastValue) {
  verb_value_ = 1000;  // a degraded LAG: less than the codes say
  EXPECT_EQ(Query().effective, Speed(100, SpeedSource::kVerb));
  for (const int error : {EIO, ETIMEDOUT, EBUSY, EINVAL}) {
    verb_error_ = error;
    const PortReading reading = Query();
    EXPECT_EQ(reading.effective, Speed(100, SpeedSource::kVerb));
    EXPECT_EQ(reading.speed_error, error);
    EXPECT_FALSE(policy_.verb_absent());
  }
  verb_error_ = 0;
  verb_value_ = 2000;
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kVerb));
}

TEST_F(PortQueryTest, TheLastValueOutlivesAFlap) {
  verb_value_ = 1000;
  Query();
  attributes_.state = IBV_PORT_DOWN;
  EXPECT_EQ(Query().effective, std::nullopt);
  attributes_.state = IBV_PORT_ACTIVE;
  verb_error_ = EIO;
  EXPECT_EQ(Query().effective, Speed(100, SpeedSource::kVerb));
}

TEST_F(PortQueryTest, ATransientErrorWithoutALastValueIsUnknown) {
  verb_error_ = EIO;
  const PortReading reading = Query();
  EXPECT_EQ(reading.effective, std::nullopt);
  EXPECT_EQ(reading.nominal_bps, 200 * kGbps);
  EXPECT_EQ(reading.speed_error, EIO);
}

TEST_F(PortQueryTest, PortsAreRememberedApart) {
  verb_value_ = 1000;
  Query(1);
  verb_error_ = EIO;
  EXPECT_EQ(Query(2).effective, std::nullopt);
  EXPECT_EQ(Query(1).effective, Speed(100, SpeedSource::kVerb));
}

TEST_F(PortQueryTest, ZeroOnAnActivePortIsTheEncodedSpeed) {
  verb_value_ = 0;
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kEncoded));
  EXPECT_FALSE(policy_.verb_absent());
}

TEST_F(PortQueryTest, APortThatIsNotActiveHasNoSpeed) {
  for (const int state : {0, 1, 2, 3, 5}) {
    attributes_.state = state;
    const PortReading reading = Query();
    EXPECT_FALSE(reading.active());
    EXPECT_EQ(reading.attributes.state, state);
    EXPECT_EQ(reading.effective, std::nullopt);
    EXPECT_EQ(reading.nominal_bps, std::nullopt);
    EXPECT_EQ(reading.lanes, std::nullopt);
    EXPECT_EQ(reading.lane_name, "");
  }
  EXPECT_EQ(verb_calls_, 0);
}

TEST_F(PortQueryTest, TheExtendedCodeIsPreferred) {
  api_.query_port_speed = nullptr;
  attributes_.active_speed = 128;
  attributes_.active_speed_ex = 256;
  EXPECT_EQ(Query().effective, Speed(800, SpeedSource::kEncoded));
  EXPECT_EQ(Query().lane_name, "XDR");
}

TEST_F(PortQueryTest, UnknownCodesAreUnknown) {
  api_.query_port_speed = nullptr;
  attributes_.active_speed = 3;
  PortReading reading = Query();
  EXPECT_EQ(reading.effective, std::nullopt);
  EXPECT_EQ(reading.nominal_bps, std::nullopt);
  EXPECT_EQ(reading.lanes, 4U);
  EXPECT_EQ(reading.lane_name, "");
  attributes_.active_speed = 64;
  attributes_.active_speed_ex = 512;  // newer than we are: the other one is clamped
  EXPECT_EQ(Query().effective, std::nullopt);
  attributes_.active_speed_ex = 0;
  attributes_.active_width = 3;
  reading = Query();
  EXPECT_EQ(reading.effective, std::nullopt);
  EXPECT_EQ(reading.lanes, std::nullopt);
  EXPECT_EQ(reading.lane_name, "HDR");
}

TEST_F(PortQueryTest, AFailingQueryGivesNothing) {
  Query();
  query_error_ = EIO;
  const PortReading reading = Query();
  EXPECT_EQ(reading.error, EIO);
  EXPECT_FALSE(reading.active());
  EXPECT_EQ(reading.attributes.state, 0);
  EXPECT_EQ(reading.effective, std::nullopt);
  EXPECT_EQ(verb_calls_, 1);
}

TEST_F(PortQueryTest, AQueryOnAnInertSlotIsRefused) {
  const PortReading reading = QueryPort(api_, nullptr, 1, policy_, now_);
  EXPECT_EQ(reading.error, ENOTCONN);
  EXPECT_EQ(queries_, 0);
  EXPECT_EQ(verb_calls_, 0);
}

/// Codes of exactly 100 Gb/s, as helper drivers on old kernels give them for anything fast.
class SuspectSpeedTest : public PortQueryTest {
 protected:
  void SetUp() override {
    PortQueryTest::SetUp();
    api_.query_port_speed = nullptr;
    attributes_.active_speed = 32;
    netdev_ = 400 * kGbps;
  }
};

TEST_F(SuspectSpeedTest, TheNetdevKnowsBetterEitherWay) {
  EXPECT_EQ(Query().effective, Speed(400, SpeedSource::kNetdev));
  EXPECT_EQ(Query().nominal_bps, 100 * kGbps);
  policy_.Refresh();
  netdev_ = 50 * kGbps;
  EXPECT_EQ(Query().effective, Speed(50, SpeedSource::kNetdev));
}

TEST_F(SuspectSpeedTest, ANetdevThatAgreesOrDoesNotKnowChangesNothing) {
  for (const std::optional<uint64_t> speed :
       {std::optional<uint64_t>(100 * kGbps), std::optional<uint64_t>(0),
        std::optional<uint64_t>()}) {
    policy_.Refresh();
    netdev_ = speed;
    EXPECT_EQ(Query().effective, Speed(100, SpeedSource::kEncoded));
  }
  policy_ = SpeedPolicy("x");  // nobody to ask
  EXPECT_EQ(Query().effective, Speed(100, SpeedSource::kEncoded));
}

TEST_F(SuspectSpeedTest, OnlyEncodedEthernetAtExactly100) {
  attributes_.active_speed = 64;
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kEncoded));
  attributes_.active_speed = 32;
  attributes_.link_layer = IBV_LINK_LAYER_INFINIBAND;
  EXPECT_EQ(Query().effective, Speed(100, SpeedSource::kEncoded));
  EXPECT_EQ(netdev_reads_, 0);
}

TEST_F(SuspectSpeedTest, TheVerbNeedsNoNetdev) {
  UseVerb();
  policy_ = SpeedPolicy("x", {[this](uint32_t) {
                                ++netdev_reads_;
                                return netdev_;
                              },
                              {}});
  verb_value_ = 1000;
  EXPECT_EQ(Query().effective, Speed(100, SpeedSource::kVerb));
  EXPECT_EQ(netdev_reads_, 0);
  verb_value_ = 0;
  EXPECT_EQ(Query().effective, Speed(400, SpeedSource::kNetdev));
}

TEST_F(SuspectSpeedTest, TheNetdevIsReadOnChangeAndEveryThirtySeconds) {
  Query();
  EXPECT_EQ(netdev_reads_, 1);
  for (int tick = 1; tick < 30; ++tick) {
    Advance(std::chrono::seconds(1));
    Query();
  }
  EXPECT_EQ(netdev_reads_, 1);
  netdev_ = 200 * kGbps;
  Advance(std::chrono::seconds(1));
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kNetdev));
  EXPECT_EQ(netdev_reads_, 2);

  attributes_.state = IBV_PORT_DOWN;
  Query();
  EXPECT_EQ(netdev_reads_, 2);
  attributes_.state = IBV_PORT_ACTIVE;
  Query();
  EXPECT_EQ(netdev_reads_, 3);
  attributes_.active_speed = 128;
  attributes_.active_width = 1;  // 100 Gb/s again, encoded otherwise
  Query();
  EXPECT_EQ(netdev_reads_, 4);
}

TEST_F(PortQueryTest, ABondIsUsedWhereThereIsNoVerb) {
  bond_ = 400 * kGbps;
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kVerb));
  verb_value_ = 0;
  EXPECT_EQ(Query().effective, Speed(200, SpeedSource::kEncoded));
  EXPECT_EQ(bond_reads_, 0);
  verb_error_ = EOPNOTSUPP;
  EXPECT_EQ(Query().effective, Speed(400, SpeedSource::kBond));
  EXPECT_EQ(Query().effective, Speed(400, SpeedSource::kBond));
  EXPECT_EQ(bond_reads_, 1);
}

TEST_F(PortQueryTest, SourceNames) {
  EXPECT_EQ(SpeedSourceName(SpeedSource::kVerb), "verb");
  EXPECT_EQ(SpeedSourceName(SpeedSource::kEncoded), "encoded");
  EXPECT_EQ(SpeedSourceName(SpeedSource::kNetdev), "netdev");
  EXPECT_EQ(SpeedSourceName(SpeedSource::kBond), "bond");
  EXPECT_EQ(SpeedSourceName(SpeedSource::kSysfs), "sysfs");
}

}  // namespace
}  // namespace nicmon
