#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <random>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/monitor/view.h"
#include "nicmon/sim/simulated_rnic.h"
#include "nicmon/verbs/events.h"
#include "testing/fake_clock.h"

// Random sequences of events, lost events, faults, removals and operator commands on one port,
// against a model that knows only what the hardware and the operator last did. Whatever happened,
// one quiet tick later the monitor must show what the model says.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeClock;

constexpr char kDevice[] = "rdma0";
constexpr PortKey kPort{1, 1};

/// What is true, however the monitor came to know.
struct Model {
  int state = kStateActive;
  uint64_t speed_100mbps = 4000;
  bool present = true;
  bool held = false;
  bool released = false;
  std::array<uint64_t, kPortEventCount> events{};
};

class World {
 public:
  explicit World(uint32_t seed) : random_(seed) {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->clock = clock_.clock();
    shared->holds = holds_;
    shared->stats = std::make_shared<NodeStats>();
    shared->settle = Pick(2) == 0 ? Duration(0) : seconds(3);
    monitor_ = std::make_unique<DeviceMonitor>(1, shared, Sighting());
    Turn();
  }

  void Step() {
    static constexpr void (World::*kActions[])() = {
        &World::StateWithEvent,
        &World::StateWithEvent,
        &World::LostEvent,
        &World::SpuriousEvent,
        &World::OtherEvent,
        &World::QueryFault,
        &World::Speed,
        &World::Hold,
        &World::Resume,
        &World::Requery,
        &World::ReleaseOrReopen,
        &World::UnplugOrPlug,
        &World::Turn,
        &World::Tick,
        &World::Tick,
    };
    (this->*kActions[Pick(std::size(kActions))])();
    if (Pick(2) == 0) {
      Turn();
    }
    CheckInvariants();
  }

  /// No more faults; long enough for every backoff and for settling.
  void Quiet() {
    SimCommand command = Command();
    command.fail = SimCommand::Fail{"query_port", EIO, 0, 0};
    Apply(command);
    const int ticks = fatal_since_check_ ? 40 : 5;
    fatal_since_check_ = false;
    for (int i = 0; i < ticks; ++i) {
      Tick();
    }
    CheckAgainstModel();
  }

 private:
  uint32_t Pick(size_t below) {
    return std::uniform_int_distribution<uint32_t>(0, static_cast<uint32_t>(below) - 1)(random_);
  }
  SimCommand Command() const {
    SimCommand command;
    command.device = kDevice;
    command.port = 1;
    return command;
  }
  void Apply(const SimCommand& command) { ASSERT_EQ(sim_.Apply(command), ""); }
  void Turn() { monitor_->Turn(Duration(0)); }
  void Tick() {
    clock_.Advance(seconds(1));
    Turn();
  }
  DeviceSighting Sighting() {
    DeviceSighting sighting{kDevice, -1, "uverbs0", true};
    int count = 0;
    ibv_device** list = sim_.verbs()->get_device_list(&count);
    if (count > 0) {
      sighting.kernel_index = sim_.verbs()->get_device_index(list[0]);
    }
    sim_.verbs()->free_device_list(list);
    return sighting;
  }
  bool open() const { return monitor_->snapshot()->status == DeviceStatus::kOpen; }
  void SendEvent(PortEvent event, int type, SimCommand command) {
    command.event = type;
    if (open()) {
      ++model_.events[static_cast<size_t>(event)];
    }
    Apply(command);
    Turn();  // so that the model knows which events a context took
  }

  void NewState(SimCommand* command) {
    model_.state = static_cast<int>(Pick(2) == 0 ? kStateActive : Pick(6));
    command->state = model_.state;
  }
  void StateWithEvent() {
    if (!model_.present) {
      return;
    }
    SimCommand command = Command();
    NewState(&command);
    if (model_.state == kStateActive) {
      SendEvent(PortEvent::kPortActive, IBV_EVENT_PORT_ACTIVE, command);
    } else {
      SendEvent(PortEvent::kPortErr, IBV_EVENT_PORT_ERR, command);
    }
  }
  void LostEvent() {
    if (model_.present) {
      SimCommand command = Command();
      NewState(&command);
      Apply(command);
    }
  }
  void SpuriousEvent() {
    if (!model_.present) {
      return;
    }
    if (Pick(2) == 0) {
      SendEvent(PortEvent::kPortErr, IBV_EVENT_PORT_ERR, Command());
    } else {
      SendEvent(PortEvent::kPortActive, IBV_EVENT_PORT_ACTIVE, Command());
    }
  }
  void OtherEvent() {
    if (!model_.present) {
      return;
    }
    static constexpr std::pair<PortEvent, int> kEvents[] = {
        {PortEvent::kLidChange, IBV_EVENT_LID_CHANGE},
        {PortEvent::kPkeyChange, IBV_EVENT_PKEY_CHANGE},
        {PortEvent::kSmChange, IBV_EVENT_SM_CHANGE},
        {PortEvent::kClientReregister, IBV_EVENT_CLIENT_REREGISTER},
        {PortEvent::kGidChange, IBV_EVENT_GID_CHANGE}};
    const auto& [event, type] = kEvents[Pick(std::size(kEvents))];
    SendEvent(event, type, Command());
  }
  void QueryFault() {
    SimCommand command = Command();
    static constexpr int kErrors[] = {EIO, EBUSY, ETIMEDOUT, ENODEV};
    command.fail =
        SimCommand::Fail{"query_port", kErrors[Pick(std::size(kErrors))], 1 + Pick(8), Pick(3)};
    fatal_since_check_ = true;  // EIO may close it
    Apply(command);
  }
  void Speed() {
    if (!model_.present) {
      return;
    }
    SimCommand command = Command();
    command.effective_speed_100mbps = model_.speed_100mbps = 1000 * (1 + Pick(8));
    if (Pick(2) == 0) {
      command.event = kDeviceSpeedChange;
    }
    Apply(command);
  }
  void Hold() {
    nicmon::Hold hold;
    holds_->Pause(kPort, kDevice, "x", "", std::nullopt, false, &hold);
    model_.held = true;
  }
  void Resume() {
    nicmon::Hold hold;
    holds_->Resume(kPort, "", &hold);
    model_.held = false;
  }
  void Requery() {
    const auto command = monitor_->Submit(CommandKind::kRequery, 1);
    const bool was_open = open();
    Turn();
    CommandResult result;
    ASSERT_EQ(command->Wait(Duration(0), &result), Pending::State::kDone);
    if (!was_open && !open()) {
      EXPECT_EQ(result.code, CommandResult::Code::kNotOpen);
    }
  }
  void ReleaseOrReopen() {
    model_.released = !model_.released;
    if (model_.released) {
      holds_->SetRelease(1, {"x", "", clock_.wall(), clock_.wall() + std::chrono::hours(1000)});
    } else {
      holds_->ClearRelease(1);
    }
    monitor_->Submit(CommandKind::kPoke, 0);
    Turn();
  }
  void UnplugOrPlug() {
    SimCommand command = Command();
    command.port.reset();
    fatal_since_check_ = true;
    model_.present = !model_.present;
    if (model_.present) {
      command.plug = true;
      Apply(command);
      model_.state = kStateActive;  // a fresh port
      model_.speed_100mbps = 4000;
      monitor_->OnDiscovery(Sighting());
    } else {
      command.unplug = true;
      command.silent = Pick(2) == 0;
      Apply(command);
      if (Pick(2) == 0) {
        Turn();  // DEVICE_FATAL is seen before discovery notices, or not
      }
      monitor_->OnDiscovery(std::nullopt);
    }
    Turn();
  }

  /// What must hold at any moment.
  void CheckInvariants() {
    const auto snapshot = monitor_->snapshot();
    const PortSnapshot& port = snapshot->ports.at(0);
    const PortCounts& counts = port.counts;
    EXPECT_EQ(counts.events, model_.events);
    EXPECT_LE(counts.flaps, counts.link_pauses);
    EXPECT_LE(counts.link_pauses - counts.flaps, 1U) << "one pause at a time";
    EXPECT_GE(counts.recovered_by_event + counts.recovered_by_tick + counts.recovered_by_admin,
              counts.flaps);
    EXPECT_EQ(port.effective_speed_bps.has_value() && !port.up(), false);
    const SimHeld held = sim_.Held();
    EXPECT_EQ(held.contexts, snapshot->status == DeviceStatus::kOpen ? 1 : 0);
    EXPECT_EQ(held.unacked_events, 0);
    EXPECT_EQ(held.device_lists, 0);
    EXPECT_EQ(held.misuses, 0);
  }

  void CheckAgainstModel() {
    ViewInput::Device device{monitor_->snapshot(), {}};
    const auto holds = holds_->snapshot();
    const DeviceView view =
        BuildDeviceView(ViewOptions{}, device, holds, clock_.steady(), clock_.wall());
    const PortView& port = view.ports.at(0);
    EXPECT_EQ(port.Paused(PauseReason::kAdmin), model_.held);
    EXPECT_EQ(port.Paused(PauseReason::kReleased), model_.released);
    EXPECT_EQ(port.Paused(PauseReason::kFatal), !model_.present && !model_.released);
    const bool watched = model_.present && !model_.released;
    EXPECT_EQ(view.data->status, model_.released  ? DeviceStatus::kReleased
                                 : model_.present ? DeviceStatus::kOpen
                                                  : DeviceStatus::kAbsent)
        << view.data->detail;
    EXPECT_EQ(port.data->state, watched ? std::optional(model_.state) : std::nullopt);
    const bool active = watched && model_.state == kStateActive;
    EXPECT_EQ(port.up, active);
    EXPECT_FALSE(port.stale);
    EXPECT_EQ(port.serving, active && !model_.held);
    if (watched) {
      EXPECT_EQ(port.Paused(PauseReason::kLink), !active);
      EXPECT_FALSE(port.Paused(PauseReason::kSettling));
    }
    EXPECT_EQ(port.data->effective_speed_bps,
              active ? std::optional(model_.speed_100mbps * 100'000'000) : std::nullopt);
  }

  std::mt19937 random_;
  FakeClock clock_;
  SimulatedRnic sim_{SimulationSpec{{kDevice}, 1, 400, false}};
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(clock_.clock());
  std::unique_ptr<DeviceMonitor> monitor_;
  Model model_;
  bool fatal_since_check_ = false;
};

class PropertyTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(PropertyTest, OneQuietTickLaterTheViewIsTheTruth) {
  for (uint32_t i = 0; i < 20; ++i) {
    const uint32_t seed = GetParam() * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int round = 0; round < 10; ++round) {
      for (int step = 0; step < 20 && !HasFailure(); ++step) {
        world.Step();
      }
      if (HasFailure()) {
        return;
      }
      world.Quiet();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PropertyTest, ::testing::Range(0U, 10U));

}  // namespace
}  // namespace nicmon
