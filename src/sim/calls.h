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

}  // namespace nicmon::sim
