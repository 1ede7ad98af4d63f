#include "nicmon/device/loopback_probe.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <thread>

#include "device/device_context_fixture.h"

// Bytes through a port and back, and what is said and left when a step fails.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoopbackProbeTest : public DeviceContextTest {
 protected:
  std::unique_ptr<DataPath> Build() { return std::make_unique<DataPath>(api_, Watching()); }
  ProbeResult Probe(DataPath& path, uint32_t port = 1, Duration patience = seconds(30)) {
    return ProbeLoopback(path, port, nullptr, patience);
  }
  ProbeResult Probe(uint32_t port = 1, Duration patience = seconds(30)) {
    return Probe(*Build(), port, patience);
  }
  static std::vector<std::string_view> Names(const ProbeResult& result) {
    std::vector<std::string_view> names;
    for (const ProbeResult::Timed& step : result.steps) {
      names.push_back(ProbeStepName(step.step));
    }
    return names;
  }
  /// One failure: its step is named, and nothing of the probe is held any more.
  void ExpectFailure(const std::string& verb, int error, uint32_t skip, ProbeStep step) {
    const auto path = Build();
    const SimHeld before = sim_.Held();
    FailVerb(verb, error, skip);
    const ProbeResult result = Probe(*path);
    ASSERT_TRUE(result.failed) << verb;
    EXPECT_EQ(ProbeStepName(*result.failed), ProbeStepName(step));
    EXPECT_EQ(result.steps.back().step, step);
    EXPECT_FALSE(result.error.empty());
    EXPECT_EQ(sim_.Held(), before) << verb;
    EXPECT_TRUE(Probe(*path).ok()) << verb;
  }
};

TEST_F(LoopbackProbeTest, RoceGoesThroughItsGid) {
  const ProbeResult result = Probe(2);
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_THAT(Names(result), ElementsAre("query_port", "gid", "reg_mr", "create_qp", "init", "rtr",
                                         "rts", "write", "compare"));
  ASSERT_TRUE(result.gid);
  Duration sum{0};
  for (const ProbeResult::Timed& step : result.steps) {
    sum += step.took;
  }
  EXPECT_EQ(result.total, sum);
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(LoopbackProbeTest, InfiniBandGoesByLid) {
  SimulationSpec spec = Spec();
  spec.infiniband = true;
  const SimulatedRnic infiniband(spec);
  DataPath path(infiniband.verbs(), Watching());
  const ProbeResult result = Probe(path);
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_FALSE(result.gid);
  EXPECT_THAT(Names(result), ElementsAre("query_port", "reg_mr", "create_qp", "init", "rtr", "rts",
                                         "write", "compare"));
}

TEST_F(LoopbackProbeTest, EachStepThatFailsIsNamedAndLeavesNothing) {
  ExpectFailure("query_port", EIO, 0, ProbeStep::kQueryPort);
  ExpectFailure("reg_mr", ENOMEM, 0, ProbeStep::kRegisterMemory);
  ExpectFailure("create_qp", ENOMEM, 0, ProbeStep::kCreateQp);
  ExpectFailure("modify_qp", EINVAL, 0, ProbeStep::kInit);
  ExpectFailure("modify_qp", EINVAL, 1, ProbeStep::kReadyToReceive);
  ExpectFailure("modify_qp", ETIMEDOUT, 2, ProbeStep::kReadyToSend);
  ExpectFailure("req_notify_cq", EIO, 0, ProbeStep::kWrite);
  ExpectFailure("post_send", ENOMEM, 0, ProbeStep::kWrite);
  ExpectFailure("poll_cq", EIO, 0, ProbeStep::kWrite);
}

TEST_F(LoopbackProbeTest, AThousandThatFailLeaveNothing) {
  const auto path = Build();
  const SimHeld before = sim_.Held();
  const int fds = OpenFds();
  for (uint32_t round = 0; round < 1000; ++round) {
    FailVerb("modify_qp", EIO, round % 3);
    ASSERT_FALSE(Probe(*path).ok());
  }
  EXPECT_EQ(sim_.Held(), before);
  EXPECT_EQ(OpenFds(), fds);
}

TEST_F(LoopbackProbeTest, SaysWhatToDoAboutLockedMemory) {
  for (const int error : {ENOMEM, EPERM, EAGAIN}) {
    FailVerb("reg_mr", error);
    EXPECT_THAT(Probe().hint, HasSubstr("LimitMEMLOCK"));
  }
  FailVerb("reg_mr", EINVAL);
  EXPECT_EQ(Probe().hint, "");
  FailVerb("create_qp", EOPNOTSUPP);
  EXPECT_THAT(Probe().hint, HasSubstr("reliable connections"));
}

TEST_F(LoopbackProbeTest, APortThatIsNotActiveIsNotTried) {
  SetState(IBV_PORT_INIT);
  const ProbeResult result = Probe();
  EXPECT_EQ(result.failed, ProbeStep::kQueryPort);
  EXPECT_THAT(result.error, HasSubstr("not active but init"));
  EXPECT_EQ(sim_.Calls("reg_mr"), 0U);
}

TEST_F(LoopbackProbeTest, RoceWithoutAGidIsNotTried) {
  ASSERT_EQ(sim_.SetGids("a0", 1, {}), "");
  const ProbeResult result = Probe();
  EXPECT_EQ(result.failed, ProbeStep::kGid);
  EXPECT_FALSE(result.error.empty());
  EXPECT_THAT(result.hint, HasSubstr("address"));
}

TEST_F(LoopbackProbeTest, AGidThatAQueuePairCannotBeToldIsNotCutShort) {
  auto wrapped = std::make_shared<VerbsApi>(*api_);
  wrapped->query_gid_table = [this](ibv_context* context, size_t max, std::vector<GidEntry>* out) {
    const int error = sim_.verbs()->query_gid_table(context, max, out);
    for (GidEntry& entry : *out) {
      entry.index += 256;
    }
    return error;
  };
  wrapped->query_port = [this](ibv_context* context, uint32_t port, PortAttributes* out) {
    const int error = sim_.verbs()->query_port(context, port, out);
    out->gid_table_length = 1024;
    return error;
  };
  api_ = wrapped;
  const ProbeResult result = Probe();
  EXPECT_EQ(result.failed, ProbeStep::kGid);
  EXPECT_THAT(result.error, HasSubstr("255"));
}

TEST_F(LoopbackProbeTest, APortThatGoesDownMeanwhileEndsWithTheRetries) {
  // Between the look at the port and the transfer.
  auto wrapped = std::make_shared<VerbsApi>(*api_);
  wrapped->post_send = [this](ibv_qp* qp, ibv_send_wr* request) {
    SetState(IBV_PORT_DOWN);
    return sim_.verbs()->post_send(qp, request);
  };
  api_ = wrapped;
  const ProbeResult result = Probe();
  EXPECT_EQ(result.failed, ProbeStep::kWrite);
  EXPECT_THAT(result.error, HasSubstr("IBV_WC_RETRY_EXC_ERR"));
  EXPECT_THAT(result.hint, HasSubstr("GID"));
}

TEST_F(LoopbackProbeTest, OneByteThatArrivesAsAnotherIsFound) {
  ASSERT_EQ(sim_.SetLoopback("a0", SimLoopback::kCorrupts), "");
  const ProbeResult result = Probe();
  EXPECT_EQ(result.failed, ProbeStep::kCompare);
  EXPECT_THAT(result.error, HasSubstr("byte 1024 of 2048"));
}

TEST_F(LoopbackProbeTest, ACompletionThatDoesNotComeIsWaitedForSoLong) {
  ASSERT_EQ(sim_.SetLoopback("a0", SimLoopback::kSwallows), "");
  const auto start = std::chrono::steady_clock::now();
  const ProbeResult result = Probe(1, milliseconds(30));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(30));
  EXPECT_EQ(result.failed, ProbeStep::kWrite);
  EXPECT_THAT(result.error, HasSubstr("within 30 ms"));
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

/// Nothing promises that a completion goes from the queue with its queue pair.
TEST_F(LoopbackProbeTest, ACompletionThatComesTooLateIsNotTheNextProbes) {
  const auto real = api_;
  auto wrapped = std::make_shared<VerbsApi>(*real);
  bool late = true;
  wrapped->poll_cq = [&](ibv_cq* cq, ibv_wc* out) {
    return late ? EAGAIN : real->poll_cq(cq, out);
  };
  api_ = wrapped;
  const auto path = Build();
  EXPECT_EQ(Probe(*path, 1, milliseconds(30)).failed, ProbeStep::kWrite);
  late = false;
  ASSERT_EQ(sim_.SetLoopback("a0", SimLoopback::kSwallows), "");
  EXPECT_EQ(Probe(*path, 1, milliseconds(30)).failed, ProbeStep::kWrite);
  ASSERT_EQ(sim_.SetLoopback("a0", SimLoopback::kWorks), "");
  EXPECT_TRUE(Probe(*path).ok());
}

/// The channel, not a look at the queue over and over, tells of a completion that takes its time.
TEST_F(LoopbackProbeTest, ALateCompletionIsToldByTheChannel) {
  std::thread late;
  auto wrapped = std::make_shared<VerbsApi>(*api_);
  wrapped->post_send = [this, &late](ibv_qp* qp, ibv_send_wr* request) {
    late = std::thread([this, qp, copy = *request, from = *request->sg_list]() mutable {
      copy.sg_list = &from;
      while (sim_.Calls("poll_cq") == 0) {
        std::this_thread::yield();
      }
      EXPECT_EQ(sim_.verbs()->post_send(qp, &copy), 0);
    });
    return 0;
  };
  api_ = wrapped;
  const ProbeResult result = Probe();
  late.join();
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_LE(sim_.Calls("poll_cq"), 3U);
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(LoopbackProbeTest, EventsMeanwhileAreNamedAndAFatalOneEndsIt) {
  ASSERT_EQ(sim_.SetLoopback("a0", SimLoopback::kSwallows), "");
  const auto path = Build();
  Command([](SimCommand& command) {
    command.port = 1;
    command.event = IBV_EVENT_GID_CHANGE;  // a port's: no concern of the probe
    command.repeat = 3000;
  });
  Command([](SimCommand& command) { command.event = IBV_EVENT_QP_FATAL; });
  Command([](SimCommand& command) {
    command.port = 1;
    command.event = IBV_EVENT_DEVICE_FATAL;
  });
  const ProbeResult result = Probe(*path);
  EXPECT_EQ(result.failed, ProbeStep::kWrite);
  EXPECT_THAT(result.error, HasSubstr("DEVICE_FATAL"));
  EXPECT_THAT(result.events, ElementsAre("qp_fatal", "device_fatal"));
  EXPECT_EQ(sim_.Held().unacked_events, 0);
}

TEST_F(LoopbackProbeTest, APathThatIsOfNoUseSaysSo) {
  const auto path = Build();
  EXPECT_TRUE(path->Drain());
  Command([](SimCommand& command) {
    command.port = 1;
    command.event = IBV_EVENT_GID_CHANGE;
    command.repeat = 5000;
  });
  EXPECT_TRUE(path->Drain());
  Command([](SimCommand& command) { command.event = IBV_EVENT_CQ_ERR; });
  EXPECT_FALSE(path->Drain());
  EXPECT_TRUE(path->Drain());
  Command([](SimCommand& command) {
    command.port = 1;
    command.event = IBV_EVENT_DEVICE_FATAL;
  });
  EXPECT_FALSE(path->Drain());
}

TEST_F(LoopbackProbeTest, APathThatCannotBeBuiltSaysWhatToDo) {
  const auto hint = [this](const std::string& verb, int error) {
    FailVerb(verb, error);
    try {
      Build();
    } catch (const AcquireError& e) {
      EXPECT_EQ(sim_.Held(), SimHeld{});
      return AcquireHint(e);
    }
    return std::string("built");
  };
  EXPECT_THAT(hint("open_device", EACCES), HasSubstr("device node"));
  EXPECT_THAT(hint("open_device", EAGAIN), HasSubstr("rdma cgroup"));
  EXPECT_THAT(hint("create_cq", ENOMEM), HasSubstr("LimitMEMLOCK"));
  EXPECT_EQ(hint("alloc_pd", EIO), "");
}

}  // namespace
}  // namespace nicmon
