#include "nicmon/monitor/device_monitor.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "nicmon/device/device_context.h"

// The loop, commands and publishing; opening and closing are in device_monitor_open.cc, events and
// queries in device_monitor_ports.cc.
namespace nicmon {
namespace {

constexpr size_t kMaxCommands = 64;

}  // namespace

DeviceMonitor::DeviceMonitor(DeviceId id, std::shared_ptr<const MonitorShared> shared,
                             DeviceSighting sighting)
    : shared_(std::move(shared)),
      prober_(shared_->verbs, shared_->sysfs, shared_->data_path),
      wake_watch_(epoll_, waker_.fd(), EPOLLIN),
      sighting_(std::move(sighting)),
      links_(shared_->sysfs) {
  context_.device = sighting_.name;
  context_.id = id;
  context_.settle = shared_->settle;
  context_.holds = shared_->holds;
  if (shared_->record) {
    context_.record = [this](Transition event) { untold_.push_back(std::move(event)); };
  }
  data_.id = id;
  data_.name = sighting_.name;
  data_.kernel_index = sighting_.kernel_index;
  data_.detail = "being opened for the first time";
  data_.data_path = prober_.status();
  Record("discovery", "", "opening", "found");
  last_tick_ = next_open_ = shared_->clock.steady();
  next_tick_ = last_tick_ + shared_->tick;
  Publish();
}

DeviceMonitor::~DeviceMonitor() = default;

void DeviceMonitor::OnDiscovery(std::optional<DeviceSighting> sighting) {
  {
    std::lock_guard lock(mutex_);
    mail_.discovery = std::move(sighting);
  }
  waker_.Wake();
}

std::shared_ptr<Pending> DeviceMonitor::Submit(CommandKind kind, uint32_t port) {
  auto command = std::make_shared<Pending>(kind, port);
  {
    std::lock_guard lock(mutex_);
    if (stopping_) {
      command->Stop();
      return command;
    }
    if (mail_.commands.size() >= kMaxCommands) {
      CommandResult result;
      result.code = CommandResult::Code::kQueueFull;
      command->Finish(std::move(result));
      return command;
    }
    mail_.commands.push_back(command);
  }
  waker_.Wake();
  return command;
}

void DeviceMonitor::RequestStop() {
  Mail mail;
  std::vector<std::shared_ptr<Pending>> taken;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    std::swap(mail, mail_);
    std::swap(taken, taken_);
  }
  prober_.Stop();
  // Here and not in the loop: a hung device's callers are answered too, whether their command waits
  // or is the one that hangs.
  for (const auto& commands : {mail.commands, taken}) {
    for (const auto& command : commands) {
      command->Stop();
    }
  }
  waker_.Wake();
}

DeviceMonitor::Mail DeviceMonitor::TakeMail() {
  std::lock_guard lock(mutex_);
  taken_ = mail_.commands;
  return std::exchange(mail_, {});
}

void DeviceMonitor::Run() {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) {
        break;
      }
    }
    Turn(std::chrono::hours(1));
  }
  if (device_) {
    const BusyScope busy = Busy("close_device");
    device_.reset();
    prober_.Closed();
  }
}

SteadyTime DeviceMonitor::NextDeadline() const {
  SteadyTime until = next_tick_;
  if (!device_ && present_ && data_.status != DeviceStatus::kReleased) {
    until = std::min(until, next_open_);
  }
  for (const auto& port : ports_) {
    if (const auto deadline = port->settle_deadline()) {
      until = std::min(until, *deadline);
    }
  }
  return until;
}

int DeviceMonitor::WaitMilliseconds(SteadyTime now, Duration max_wait) const {
  if (more_events_) {
    return 0;
  }
  SteadyTime until = NextDeadline();
  if (sampler_) {
    until = std::min(until, sampler_->due());
  }
  const Duration wait = std::clamp(until - now, Duration(0), max_wait);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
}

void DeviceMonitor::Turn(Duration max_wait) {
  if (owner_ == std::thread::id()) {
    owner_ = std::this_thread::get_id();
  }
  assert(owner_ == std::this_thread::get_id());
  event_wakeup_.reset();
  const SteadyTime now = shared_->clock.steady();
  const std::span<const Epoll::Ready> ready = epoll_.Wait(WaitMilliseconds(now, max_wait));
  // Between two files of a round nothing but the next ones have to be read as a rule: the turn is
  // then a look at the descriptors and a slice of the round.
  if (!ready.empty() || more_events_ || !SamplingDue(now) || NextDeadline() <= now) {
    TurnBusy(ready);
  }
  if (shared_->clock.steady() < next_tick_) {
    SampleFiles();
  } else if (ReadTraffic()) {
    Tick();
  }
  if (dirty_) {
    Publish();
  }
}

void DeviceMonitor::TurnBusy(std::span<const Epoll::Ready> ready) {
  bool async_ready = more_events_;
  bool async_error = false;
  for (const Epoll::Ready& each : ready) {
    if (each.id == wake_watch_.id()) {
      waker_.Clear();
    } else if (device_ && each.id == device_->async_watch()) {
      async_ready = true;
      async_error = (each.events & EPOLLERR) != 0;
    }
  }
  if (async_ready && device_) {
    event_wakeup_ = shared_->clock.steady();
    TakeEvents();
    if (async_error && device_) {
      ++data_.async_read_errors;
      CloseDead("the async event descriptor reports an error");
    }
  }
  Mail mail = TakeMail();
  if (mail.discovery) {
    ApplyDiscovery(*mail.discovery);
  }
  ApplyRelease();
  OpenIfDue();
  QueryTouched();
  std::vector<std::pair<std::shared_ptr<Pending>, CommandResult>> done;
  for (const auto& command : mail.commands) {
    if (command->Start()) {
      done.emplace_back(command, RunCommand(*command));
    }
  }
  Settle();
  // Before any file: one that hangs keeps nothing back that is known.
  if (dirty_) {
    Publish();
  }
  for (auto& [command, result] : done) {
    result.after = published_.load();
    command->Finish(std::move(result));
  }
  event_wakeup_.reset();
}

CommandResult DeviceMonitor::RunCommand(const Pending& command) {
  CommandResult result;
  const SteadyTime start = shared_->clock.steady();
  if (dirty_) {
    Publish();
  }
  result.before = published_.load();
  if (command.kind() == CommandKind::kPoke) {
    ApplyRelease();  // done at the start of the turn already, unless it changed since
    OpenIfDue();
    dirty_ = true;
  } else if (!device_) {
    result.code = CommandResult::Code::kNotOpen;
  } else if (command.port() != 0 && FindPort(static_cast<int>(command.port())) == nullptr) {
    result.code = CommandResult::Code::kUnknownPort;
  } else {
    device_->speed_policy().Refresh();
    for (const auto& port : ports_) {
      if (command.port() == 0 || port->snapshot().number == command.port()) {
        const int error = Query(*port, QuerySource::kAdmin);
        result.query_error = error != 0 ? error : result.query_error;
        ScanGid(*port);
      }
    }
  }
  result.duration = shared_->clock.steady() - start;
  return result;
}

void DeviceMonitor::Publish() {
  auto next = std::make_shared<DeviceSnapshot>(data_);
  next->ports.reserve(ports_.size());
  for (const auto& port : ports_) {
    next->ports.push_back(port->snapshot());
  }
  const Now now = Time();
  next->published = now.steady;
  next->published_wall = now.wall;
  published_.store(std::move(next));
  dirty_ = false;
  // Only now: whoever hears of a change finds it in the snapshot.
  for (Transition& event : untold_) {
    shared_->record(std::move(event));
  }
  untold_.clear();
  if (event_wakeup_) {
    const Duration took = shared_->clock.steady() - *event_wakeup_;
    shared_->stats->event_publish_seconds.Observe(std::chrono::duration<double>(took).count());
    event_wakeup_.reset();
  }
}

}  // namespace nicmon
