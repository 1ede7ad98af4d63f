#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "calls.h"

namespace nicmon::sim {
namespace {

// Takes an object back. `busy` says that something else still hangs on it. After a hot unplug the
// answer is EIO, but the kernel has dropped the object already.
template <typename Map, typename Object, typename Busy>
int Destroy(Node& node, Map& held, Object* object, Verb verb, Busy busy) {
  std::shared_ptr<Registration> registration;
  {
    Lock lock(node.mutex);
    const auto found = held.find(object);
    if (found == held.end()) {
      ++node.misuses;
      return EINVAL;
    }
    registration = found->second->registration;
  }
  Lock lock;
  const int error = Begin(node, lock, *registration, verb);
  const bool gone = registration->life == Registration::Life::kGone;
  if (error == 0 && busy()) {
    return EBUSY;
  }
  if (error == 0 || gone) {
    held.erase(object);
  }
  return error;
}

bool Never() {
  return false;
}

}  // namespace

ibv_pd* AllocPd(Node& node, ibv_context* context) {
  const std::shared_ptr<Registration>& registration = ContextOf(context)->entry.registration;
  Lock lock;
  if (const int error = Begin(node, lock, *registration, Verb::kAllocPd)) {
    return Failed<ibv_pd>(error);
  }
  auto pd = std::make_unique<Pd>();
  pd->context = context;
  pd->registration = registration;
  ibv_pd* result = pd.get();
  node.pds.emplace(result, std::move(pd));
  return result;
}

int DeallocPd(Node& node, ibv_pd* pd) {
  return Destroy(node, node.pds, pd, Verb::kDeallocPd, Never);
}

ibv_comp_channel* CreateCompChannel(Node& node, ibv_context* context) {
  const std::shared_ptr<Registration>& registration = ContextOf(context)->entry.registration;
  Lock lock;
  if (const int error = Begin(node, lock, *registration, Verb::kCreateCompChannel)) {
    return Failed<ibv_comp_channel>(error);
  }
  UniqueFd fd(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  if (!fd) {
    return nullptr;
  }
  auto channel = std::make_unique<Channel>();
  channel->context = context;
  channel->fd = fd.get();
  channel->fd_owner = std::move(fd);
  channel->registration = registration;
  ibv_comp_channel* result = channel.get();
  node.channels.emplace(result, std::move(channel));
  return result;
}

int DestroyCompChannel(Node& node, ibv_comp_channel* channel) {
  return Destroy(node, node.channels, channel, Verb::kDestroyCompChannel, [&] {
    return std::any_of(node.cqs.begin(), node.cqs.end(),
                       [&](const auto& cq) { return cq.first->channel == channel; });
  });
}

ibv_cq* CreateCq(Node& node, ibv_context* context, int cqe, ibv_comp_channel* channel, int vector) {
  const std::shared_ptr<Registration>& registration = ContextOf(context)->entry.registration;
  Lock lock;
  if (const int error = Begin(node, lock, *registration, Verb::kCreateCq)) {
    return Failed<ibv_cq>(error);
  }
  const DeviceAttributes& limits = registration->device->attributes;
  const bool has_vector = vector >= 0 && static_cast<uint32_t>(vector) < limits.completion_vectors;
  if (cqe < 1 || cqe > limits.max_cqe || !has_vector) {
    return Failed<ibv_cq>(EINVAL);
  }
  auto cq = std::make_unique<Cq>();
  cq->context = context;
  cq->channel = channel;
  cq->cqe = cqe;
  cq->registration = registration;
  ibv_cq* result = cq.get();
  node.cqs.emplace(result, std::move(cq));
  return result;
}

int DestroyCq(Node& node, ibv_cq* cq) {
  return Destroy(node, node.cqs, cq, Verb::kDestroyCq, Never);
}

}  // namespace nicmon::sim
