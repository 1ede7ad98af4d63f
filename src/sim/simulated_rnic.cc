#include "nicmon/sim/simulated_rnic.h"

#include <algorithm>

#include "node.h"

namespace nicmon {

class SimulatedRnic::Impl : public sim::Node {
 public:
  using sim::Node::Node;
};

namespace {

using Lock = std::unique_lock<std::mutex>;

// Waits for a condition on the node; false after `timeout`.
template <typename Condition>
bool Await(sim::Node& node, Duration timeout, Condition condition) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + timeout;
  Lock lock(node.mutex);
  while (!condition()) {
    const Duration left = deadline - std::chrono::steady_clock::now();
    if (left <= Duration::zero()) {
      return false;
    }
    sim::WaitBriefly(node.faults.changed(), lock, left);
  }
  return true;
}

bool IsRemoving(sim::Node& node, const std::string& name) {
  const sim::Device* device = node.FindDevice(name);
  return device != nullptr && device->current != nullptr &&
         device->current->life == sim::Registration::Life::kRemoving;
}

}  // namespace

SimulatedRnic::SimulatedRnic(const SimulationSpec& spec) : impl_(std::make_shared<Impl>(spec)) {}

SimulatedRnic::~SimulatedRnic() {
  EndHangs();
}

std::shared_ptr<const VerbsApi> SimulatedRnic::verbs() const {
  return sim::MakeVerbs(impl_);
}

SysfsFiles SimulatedRnic::sysfs() const {
  return sim::MakeSysfs(impl_);
}

std::string SimulatedRnic::Apply(const SimCommand& command) {
  Lock lock(impl_->mutex);
  return sim::ApplyCommand(*impl_, command);
}

void SimulatedRnic::EndHangs() {
  Lock lock(impl_->mutex);
  impl_->faults.EndHangs();
}

SimHeld SimulatedRnic::Held() const {
  Lock lock(impl_->mutex);
  SimHeld held;
  held.device_lists = static_cast<int>(impl_->lists.size());
  held.contexts = static_cast<int>(impl_->contexts.size());
  held.pds = static_cast<int>(impl_->pds.size());
  held.channels = static_cast<int>(impl_->channels.size());
  held.cqs = static_cast<int>(impl_->cqs.size());
  held.mrs = static_cast<int>(impl_->mrs.size());
  held.qps = static_cast<int>(impl_->qps.size());
  // Acks first: one that comes between the two readings must not look like one too many.
  const auto acks = static_cast<int64_t>(impl_->faults.Calls(sim::Verb::kAckAsyncEvent));
  const int64_t unacked = static_cast<int64_t>(impl_->Delivered()) - acks;
  held.unacked_events = static_cast<int>(std::max<int64_t>(unacked, 0));
  held.misuses = impl_->misuses + static_cast<int>(std::max<int64_t>(-unacked, 0));
  return held;
}

uint64_t SimulatedRnic::Calls(const std::string& verb) const {
  const auto known = sim::FindVerb(verb);
  if (known == sim::Verb::kGetAsyncEvent) {
    Lock lock(impl_->mutex);
    return impl_->Reads();
  }
  return known ? impl_->faults.Calls(*known) : 0;
}

std::string SimulatedRnic::SetGids(const std::string& device, uint32_t port,
                                   std::vector<GidEntry> gids,
                                   std::map<uint32_t, std::string> netdevs) {
  Lock lock(impl_->mutex);
  sim::Device* found = impl_->FindDevice(device);
  if (found == nullptr || port == 0 || port > found->ports.size()) {
    return "no such device or port";
  }
  sim::Port& target = found->ports[port - 1];
  const auto slots = static_cast<uint32_t>(target.attributes.gid_table_length);
  for (const GidEntry& gid : gids) {
    if (gid.index >= slots) {
      return "GID index beyond the table";
    }
  }
  target.gids.clear();
  for (GidEntry& gid : gids) {
    gid.port = port;
    target.gids[gid.index] = gid;
  }
  target.gid_netdevs = std::move(netdevs);
  if (found->current != nullptr) {
    impl_->RenderGids(*found, port);
  }
  return "";
}

std::string SimulatedRnic::SetLimits(const std::string& device, int max_cqe,
                                     uint32_t completion_vectors) {
  Lock lock(impl_->mutex);
  sim::Device* found = impl_->FindDevice(device);
  if (found == nullptr) {
    return "no such device";
  }
  found->attributes.max_cqe = max_cqe;
  found->attributes.completion_vectors = completion_vectors;
  return "";
}

std::string SimulatedRnic::SetLoopback(const std::string& device, SimLoopback loopback) {
  Lock lock(impl_->mutex);
  sim::Device* found = impl_->FindDevice(device);
  if (found == nullptr) {
    return "no such device";
  }
  found->loopback = loopback;
  return "";
}

std::string SimulatedRnic::SetFile(const std::string& path, FileRead content) {
  Lock lock(impl_->mutex);
  return impl_->tree.Pin(path, std::move(content)) ? "" : "a directory";
}

std::string SimulatedRnic::RemoveFile(const std::string& path) {
  Lock lock(impl_->mutex);
  return impl_->tree.Hide(path) ? "" : "no such file";
}

int SimulatedRnic::Hanging() const {
  Lock lock(impl_->mutex);
  return impl_->faults.hanging();
}

bool SimulatedRnic::RemovalPending(const std::string& device) const {
  Lock lock(impl_->mutex);
  return IsRemoving(*impl_, device);
}

bool SimulatedRnic::AwaitRemoval(const std::string& device, Duration timeout) const {
  return Await(*impl_, timeout, [&] { return !IsRemoving(*impl_, device); });
}

bool SimulatedRnic::AwaitHanging(int calls, Duration timeout) const {
  return Await(*impl_, timeout, [&] { return impl_->faults.hanging() >= calls; });
}

}  // namespace nicmon
