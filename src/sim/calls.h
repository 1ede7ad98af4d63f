#pragma once

#include "node.h"

// The calls behind the simulated VerbsApi, each with the conventions stated there.
namespace nicmon::sim {

using Lock = std::unique_lock<std::mutex>;

inline Context* ContextOf(ibv_context* context) {
  return static_cast<Context*>(context);
}

/// Begins a call on something that belongs to a registration: counts it, hangs, fails. Returns with
/// the node locked by `lock` (which was not), and the errno the call is to end with, or 0.
inline int Begin(Node& node, Lock& lock, const Registration& registration, Verb verb) {
  node.faults.Count(verb);
  lock = Lock(node.mutex);
  const int error = node.faults.Enter(lock, registration.device->slot, verb);
  if (error != 0) {
    return error;
  }
  return registration.life == Registration::Life::kGone ? EIO : 0;
}

template <typename T>
T* Failed(int error) {
  errno = error;
  return nullptr;
}

// async.cc
int GetAsyncEvent(Node& node, ibv_context* context, ibv_async_event* out);
void AckAsyncEvent(Node& node);

// objects.cc
ibv_pd* AllocPd(Node& node, ibv_context* context);
int DeallocPd(Node& node, ibv_pd* pd);
ibv_comp_channel* CreateCompChannel(Node& node, ibv_context* context);
int DestroyCompChannel(Node& node, ibv_comp_channel* channel);
ibv_cq* CreateCq(Node& node, ibv_context* context, int cqe, ibv_comp_channel* channel, int vector);
int DestroyCq(Node& node, ibv_cq* cq);

/// Takes an object back. `busy` says that something else still hangs on it. After a hot unplug the
/// answer is EIO, but the kernel has dropped the object already.
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

// data_path.cc
ibv_mr* RegMr(Node& node, ibv_pd* pd, void* address, size_t length, int access);
int DeregMr(Node& node, ibv_mr* mr);
ibv_qp* CreateQp(Node& node, ibv_pd* pd, ibv_qp_init_attr* attributes);
int DestroyQp(Node& node, ibv_qp* qp);
int ModifyQp(Node& node, ibv_qp* qp, ibv_qp_attr* attributes, int mask);
int PostSend(Node& node, ibv_qp* qp, const ibv_send_wr& request);
int ReqNotifyCq(Node& node, ibv_cq* cq);
int GetCqEvent(Node& node, ibv_comp_channel* channel);
int PollCq(Node& node, ibv_cq* cq, ibv_wc* out);

}  // namespace nicmon::sim
