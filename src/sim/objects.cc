#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "calls.h"

namespace nicmon::sim {

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
  return Destroy(node, node.pds, pd, Verb::kDeallocPd, [&] {
    const auto of_it = [&](const auto& each) { return each.first->pd == pd; };
    return std::any_of(node.mrs.begin(), node.mrs.end(), of_it) ||
           std::any_of(node.qps.begin(), node.qps.end(), of_it);
  });
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
  return Destroy(node, node.cqs, cq, Verb::kDestroyCq, [&] {
    return std::any_of(node.qps.begin(), node.qps.end(), [&](const auto& qp) {
      return qp.first->send_cq == cq || qp.first->recv_cq == cq;
    });
  });
}

}  // namespace nicmon::sim
