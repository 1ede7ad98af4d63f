#include "nicmon/monitor/node_monitor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "discovery.h"
#include "nicmon/base/detached_threads.h"
#include "nicmon/base/log.h"
#include "nicmon/monitor/device_monitor.h"
#include "nicmon/monitor/roster.h"

namespace nicmon {
namespace {

/// A pass that left something open is repeated after this time.
constexpr Duration kSecondLook = std::chrono::milliseconds(100);

}  // namespace

/// Shared by the public object and every thread, so that a hung thread never finds it destroyed.
class NodeMonitor::Impl {
 public:
  using Monitors = std::map<DeviceId, std::shared_ptr<DeviceMonitor>>;

  Impl(std::shared_ptr<const MonitorShared> shared, NodeMonitorOptions options)
      : shared_(std::move(shared)),
        options_(std::move(options)),
        discovery_(shared_->verbs, shared_->sysfs, options_.watch_device, options_.all_functions),
        roster_([this](const std::string& uverbs) { return UverbsInode(shared_->sysfs, uverbs); }),
        monitors_(std::make_shared<const Monitors>()),
        note_(std::make_shared<const std::string>()) {}

  static void RunDiscovery(const std::shared_ptr<Impl>& self) {
    self->threads_.Start([self] {
      while (self->Pass(self)) {
      }
    });
  }

  void RequestStop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (const auto& [id, monitor] : *monitors_.load()) {
      monitor->RequestStop();
    }
  }

  ViewInput Read() const {
    ViewInput input;
    const auto monitors = monitors_.load();
    input.devices.reserve(monitors->size());
    for (const auto& [id, monitor] : *monitors) {
      // The heartbeat first: read after the snapshot it could be busy with a later call.
      const Heartbeat::Reading heartbeat = monitor->heartbeat();
      input.devices.push_back({monitor->snapshot(), heartbeat});
    }
    input.discovered = discovered_.load(std::memory_order_acquire);
    input.discovery_note = *note_.load();
    input.discovery_heartbeat = heartbeat_.Read();
    return input;
  }

  std::shared_ptr<DeviceMonitor> Find(DeviceId id) const {
    const auto monitors = monitors_.load();
    const auto it = monitors->find(id);
    return it != monitors->end() ? it->second : nullptr;
  }

  bool Forget(DeviceId id) {
    std::lock_guard lock(mutex_);
    if (!roster_.Forget(id)) {
      return false;
    }
    Drop(id);
    return true;
  }

  const std::shared_ptr<const MonitorShared>& shared() const { return shared_; }
  DetachedThreads& threads() { return threads_; }

 private:
  /// One discovery pass and the wait after it; false when stopping.
  bool Pass(const std::shared_ptr<Impl>& self) {
    std::string note;
    DiscoveryPass pass;
    {
      const BusyScope busy(heartbeat_, "get_device_list", shared_->clock.steady());
      pass = discovery_.Look(&note);
    }
    if (note != *note_.load()) {
      if (note.empty()) {
        log::Info("discovery is fine again");
      } else {
        log::Warning("discovery is incomplete", {{"reason", note}});
      }
      note_.store(std::make_shared<const std::string>(note));
    }
    std::unique_lock lock(mutex_);
    if (stopping_) {
      return false;
    }
    const std::vector<RosterChange> changes = roster_.Update(pass);
    if (!changes.empty()) {
      // Before anybody sees the devices: a held port never serves for a moment.
      shared_->holds->SeePresent(roster_.Present());
    }
    for (const RosterChange& change : changes) {
      Apply(self, change);
    }
    if (pass.list == DiscoveryPass::List::kOk) {
      discovered_.store(true, std::memory_order_release);
    }
    const Duration wait = roster_.unsettled() ? std::min(kSecondLook, options_.discovery_interval)
                                              : options_.discovery_interval;
    wake_.wait_for(lock, wait, [this] { return stopping_; });
    return !stopping_;
  }

  void Apply(const std::shared_ptr<Impl>& self, const RosterChange& change) {
    switch (change.kind) {
      case RosterChange::Kind::kNew:
        StartMonitor(self, change);
        break;
      case RosterChange::Kind::kPresent:
        Find(change.id)->OnDiscovery(change.sighting);
        break;
      case RosterChange::Kind::kGone:
        log::Warning("device is gone", {{"device", change.sighting.name}});
        Find(change.id)->OnDiscovery(std::nullopt);
        break;
      case RosterChange::Kind::kDrop:
        log::Info("virtual function is gone", {{"device", change.sighting.name}});
        RecordGone(change.sighting.name);
        Drop(change.id);
        break;
    }
  }

  void StartMonitor(const std::shared_ptr<Impl>& self, const RosterChange& change) {
    log::Info("device found", {{"device", change.sighting.name},
                               {"kernel_index", std::to_string(change.sighting.kernel_index)}});
    auto monitor = std::make_shared<DeviceMonitor>(change.id, shared_, change.sighting);
    auto next = std::make_shared<Monitors>(*monitors_.load());
    (*next)[change.id] = monitor;
    monitors_.store(std::move(next));
    // A thread that hangs in the driver is left behind; what it touches is its own.
    threads_.Start([self, monitor] { monitor->Run(); });
  }

  void RecordGone(const std::string& device) const {
    if (shared_->record) {
      Transition event;
      event.time = shared_->clock.wall();
      event.type = TransitionType::kDevice;
      event.device = device;
      event.cause = "discovery";
      event.note = "the virtual function is gone and not watched any more";
      shared_->record(std::move(event));
    }
  }

  void Drop(DeviceId id) {
    auto next = std::make_shared<Monitors>(*monitors_.load());
    const auto it = next->find(id);
    it->second->RequestStop();
    next->erase(it);
    monitors_.store(std::move(next));
    shared_->holds->ForgetDevice(id);
  }

  const std::shared_ptr<const MonitorShared> shared_;
  const NodeMonitorOptions options_;
  Heartbeat heartbeat_;
  Discovery discovery_;  // the discovery thread's
  std::mutex mutex_;  // guards roster_ and stopping_, and that monitors_ has one writer at a time
  std::condition_variable wake_;
  bool stopping_ = false;
  Roster roster_;
  Published<Monitors> monitors_;
  Published<std::string> note_;
  std::atomic<bool> discovered_{false};
  DetachedThreads threads_;
};

NodeMonitor::NodeMonitor(std::shared_ptr<const VerbsApi> verbs, SysfsFiles sysfs, Clock clock,
                         NodeMonitorOptions options, std::shared_ptr<Holds> holds) {
  auto shared = std::make_shared<MonitorShared>();
  shared->verbs = std::move(verbs);
  shared->sysfs = std::move(sysfs);
  shared->clock = std::move(clock);
  shared->holds = std::move(holds);
  shared->stats = std::make_shared<NodeStats>();
  shared->tick = options.tick;
  shared->settle = options.settle;
  shared->record = options.record;
  shared->counters_interval = options.counters_interval;
  shared->data_path = options.data_path;
  impl_ = std::make_shared<Impl>(std::move(shared), std::move(options));
}

NodeMonitor::~NodeMonitor() {
  impl_->RequestStop();
}

void NodeMonitor::Start() {
  Impl::RunDiscovery(impl_);
}

bool NodeMonitor::Stop(Duration timeout) {
  impl_->RequestStop();
  return impl_->threads().WaitForAll(timeout);
}

ViewInput NodeMonitor::Read() const {
  return impl_->Read();
}

std::shared_ptr<Pending> NodeMonitor::Submit(DeviceId device, CommandKind kind, uint32_t port) {
  const auto monitor = impl_->Find(device);
  return monitor ? monitor->Submit(kind, port) : nullptr;
}

ProbeOutcome NodeMonitor::Probe(DeviceId device, uint32_t port, Duration patience) {
  const auto monitor = impl_->Find(device);
  return monitor ? monitor->Probe(port, patience)
                 : ProbeOutcome{ProbeOutcome::Code::kUnknownPort, {}};
}

bool NodeMonitor::Probing(DeviceId device) const {
  const auto monitor = impl_->Find(device);
  return monitor && monitor->probing();
}

bool NodeMonitor::Forget(DeviceId device) {
  return impl_->Forget(device);
}

NodeStats& NodeMonitor::stats() {
  return *impl_->shared()->stats;
}

}  // namespace nicmon
