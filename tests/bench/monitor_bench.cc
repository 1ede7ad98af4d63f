// Figures of the monitor itself, over simulated hardware, each beside a bare loop or a peer in the
// same run. Usage: monitor_bench [ROUNDS]
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "bench/table.h"
#include "nicmon/base/epoll.h"
#include "nicmon/base/log.h"
#include "nicmon/monitor/device_monitor.h"
#include "nicmon/monitor/node_monitor.h"
#include "nicmon/sim/simulated_rnic.h"

namespace nicmon::bench {
namespace {

using std::chrono::seconds;

SimulationSpec Spec(int devices) {
  SimulationSpec spec;
  for (int i = 0; i < devices; ++i) {
    spec.names.push_back("rdma" + std::to_string(i));
  }
  return spec;
}

SimCommand Event(const std::string& device, int type, uint32_t repeat = 1) {
  SimCommand command;
  command.device = device;
  command.port = 1;
  command.event = type;
  command.repeat = repeat;
  return command;
}

/// A node of simulated devices with its threads running.
class RunningNode {
 public:
  explicit RunningNode(int devices) : sim_(Spec(devices)) {
    NodeMonitorOptions options;
    options.watch_device = [](const std::string&) { return true; };
    monitor_ = std::make_unique<NodeMonitor>(sim_.verbs(), sim_.sysfs(), Clock::Real(), options,
                                             std::make_shared<Holds>(Clock::Real()));
    monitor_->Start();
    while (!AllOpen(devices)) {
      std::this_thread::yield();
    }
  }
  ~RunningNode() {
    sim_.EndHangs();
    monitor_->Stop(seconds(10));
  }

  SimulatedRnic& sim() { return sim_; }

  /// From just before an event is queued until a reader sees it, in seconds.
  Samples EventToPublished(int rounds) {
    Samples samples;
    const std::string device = Find(0)->name;
    const DeviceId id = Find(0)->id;
    for (int i = 0; i < rounds; ++i) {
      const uint64_t seen = Count(id);
      const auto start = BenchClock::now();
      sim_.Apply(Event(device, IBV_EVENT_PORT_ERR));
      while (Count(id) == seen) {
      }
      samples.Add(Seconds(BenchClock::now() - start));
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // let it go back to sleep
    }
    return samples;
  }

 private:
  bool AllOpen(int devices) const {
    const ViewInput input = monitor_->Read();
    int open = 0;
    for (const ViewInput::Device& device : input.devices) {
      open += device.snapshot->status == DeviceStatus::kOpen ? 1 : 0;
    }
    return open == devices;
  }
  std::shared_ptr<const DeviceSnapshot> Find(size_t i) const {
    return monitor_->Read().devices.at(i).snapshot;
  }
  uint64_t Count(DeviceId id) const {
    for (const ViewInput::Device& device : monitor_->Read().devices) {
      if (device.snapshot->id == id) {
        return device.snapshot->ports.at(0).counts.events[static_cast<size_t>(PortEvent::kPortErr)];
      }
    }
    return 0;
  }

  SimulatedRnic sim_;
  std::unique_ptr<NodeMonitor> monitor_;
};

/// The least that could be done: epoll, one read, one store.
Samples BareLoop(int rounds) {
  Epoll epoll;
  UniqueFd fd(::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC));
  epoll.Add(fd.get(), EPOLLIN | EPOLLET);
  std::atomic<int> seen{0};
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      epoll.Wait(100);
      uint64_t one = 0;
      while (::read(fd.get(), &one, sizeof one) == sizeof one) {
        seen.fetch_add(1);
      }
    }
  });
  Samples samples;
  for (int i = 0; i < rounds; ++i) {
    const auto start = BenchClock::now();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(fd.get(), &one, sizeof one);
    while (seen != i + 1) {
    }
    samples.Add(Seconds(BenchClock::now() - start));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  stop = true;
  reader.join();
  return samples;
}

void WakeUp(int rounds) {
  Heading("Wake-up: event queued until a reader sees it published");
  Samples bare = BareLoop(rounds);
  RunningNode node(1);
  Samples ours = node.EventToPublished(rounds);
  Row("bare epoll+read loop, p50 / p99",
      Micros(bare.Quantile(0.5)) + " / " + Micros(bare.Quantile(0.99)));
  Row("nicmon with its query, p50 / p99",
      Micros(ours.Quantile(0.5)) + " / " + Micros(ours.Quantile(0.99)));
  Row("ratio of p99", Number(ours.Quantile(0.99) / bare.Quantile(0.99), "x"), "aim: <= 10x");
}

void Drain(uint32_t events) {
  Heading("Draining queued COMM_EST");
  double bare = 0;
  {
    SimulatedRnic sim(Spec(1));
    const auto verbs = sim.verbs();
    int count = 0;
    ibv_device** list = verbs->get_device_list(&count);
    ibv_context* context = verbs->open_device(list[0]);
    verbs->free_device_list(list);
    ::fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
    sim.Apply(Event("rdma0", IBV_EVENT_COMM_EST, events));
    const auto start = BenchClock::now();
    ibv_async_event event;
    uint32_t taken = 0;
    while (verbs->get_async_event(context, &event) == 0) {
      verbs->ack_async_event(&event);
      ++taken;
    }
    bare = taken / Seconds(BenchClock::now() - start);
    verbs->close_device(context);
  }
  SimulatedRnic sim(Spec(1));
  auto shared = std::make_shared<MonitorShared>();
  shared->verbs = sim.verbs();
  shared->sysfs = sim.sysfs();
  shared->clock = Clock::Real();
  shared->holds = std::make_shared<Holds>(Clock::Real());
  shared->stats = std::make_shared<NodeStats>();
  DeviceMonitor monitor(1, shared, {"rdma0", -1, "uverbs0", true});
  monitor.Turn(Duration(0));
  sim.Apply(Event("rdma0", IBV_EVENT_COMM_EST, events));
  const auto start = BenchClock::now();
  while (monitor.snapshot()->events[IBV_EVENT_COMM_EST] < events) {
    monitor.Turn(Duration(0));
  }
  const double ours = events / Seconds(BenchClock::now() - start);
  Row("bare read loop", Number(bare / 1e6, " M/s"));
  Row("nicmon, with ticks and publishing", Number(ours / 1e6, " M/s"));
  Row("ratio", Number(ours / bare, "x"), "aim: >= 0.7x");
}

void Hung(int rounds) {
  Heading("Detection with one of 8 devices hung in query_port");
  RunningNode node(8);
  Samples without = node.EventToPublished(rounds);
  SimCommand hang;
  hang.device = "rdma7";
  hang.hang = SimCommand::Hang{"query_port", seconds(3600)};
  node.sim().Apply(hang);
  node.sim().AwaitHanging(1, seconds(10));
  Samples with = node.EventToPublished(rounds);
  Row("all healthy, p50 / p99",
      Micros(without.Quantile(0.5)) + " / " + Micros(without.Quantile(0.99)));
  Row("one hung, p50 / p99", Micros(with.Quantile(0.5)) + " / " + Micros(with.Quantile(0.99)));
  Row("ratio of p50", Number(with.Quantile(0.5) / without.Quantile(0.5), "x"),
      "aim: 1, within noise");
}

void Publish(int rounds) {
  Heading("Event to published, by ports on the node");
  double one = 0;
  for (const int ports : {1, 16, 128}) {
    RunningNode node(ports);
    const double p50 = node.EventToPublished(rounds).Quantile(0.5);
    one = ports == 1 ? p50 : one;
    Row(std::to_string(ports) + " ports, p50 (and ratio to 1 port)",
        Micros(p50) + " " + Number(p50 / one, "x"), "aim: flat");
  }
}

}  // namespace
}  // namespace nicmon::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  nicmon::log::SetLevel(nicmon::log::Level::kError);
  nicmon::bench::WakeUp(rounds);
  nicmon::bench::Drain(static_cast<uint32_t>(rounds) * 500);
  nicmon::bench::Hung(rounds);
  nicmon::bench::Publish(rounds / 2);
  return 0;
}
