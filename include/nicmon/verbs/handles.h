#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// Hands an object back through the table it came from. A release that fails is logged and the
/// object is given up: nothing else could be done with it, and the rest is still released.
struct VerbsDeleter {
  std::shared_ptr<const VerbsApi> verbs;

  void operator()(ibv_device** list) const;
  void operator()(ibv_context* context) const;
  void operator()(ibv_pd* pd) const;
  void operator()(ibv_comp_channel* channel) const;
  void operator()(ibv_cq* cq) const;
  void operator()(ibv_mr* mr) const;
  void operator()(ibv_qp* qp) const;
};

/// Sole owners of one verbs object each; they keep the table alive. Order matters: a context must
/// outlive what was made from it, a channel its completion queues, a protection domain and the
/// queues their queue pairs.
using ContextHandle = std::unique_ptr<ibv_context, VerbsDeleter>;
using PdHandle = std::unique_ptr<ibv_pd, VerbsDeleter>;
using ChannelHandle = std::unique_ptr<ibv_comp_channel, VerbsDeleter>;
using CqHandle = std::unique_ptr<ibv_cq, VerbsDeleter>;
using MrHandle = std::unique_ptr<ibv_mr, VerbsDeleter>;
using QpHandle = std::unique_ptr<ibv_qp, VerbsDeleter>;

/// The node's devices at one moment. Its entries are valid while it lives (an open context keeps
/// its own device).
class DeviceList {
 public:
  DeviceList() = default;

  /// Asks for the list. On failure the result is false and `error` holds the errno: ENOSYS means
  /// that there is no RDMA here, anything else that nothing is known.
  static DeviceList Get(std::shared_ptr<const VerbsApi> verbs, int* error);

  explicit operator bool() const { return list_ != nullptr; }
  std::span<ibv_device* const> devices() const { return {list_.get(), count_}; }

 private:
  struct Deleter : VerbsDeleter {
    using pointer = ibv_device**;
  };
  std::unique_ptr<ibv_device*, Deleter> list_;
  size_t count_ = 0;
};

/// Acquisition, each with an owner as the result. On failure the handle is empty and `error` holds
/// the errno (EIO where the library set none); on success `error` is 0.
ContextHandle OpenDevice(std::shared_ptr<const VerbsApi> verbs, ibv_device* device, int* error);
PdHandle AllocPd(std::shared_ptr<const VerbsApi> verbs, ibv_context* context, int* error);
ChannelHandle CreateChannel(std::shared_ptr<const VerbsApi> verbs, ibv_context* context,
                            int* error);
CqHandle CreateCq(std::shared_ptr<const VerbsApi> verbs, ibv_context* context, int cqe,
                  ibv_comp_channel* channel, int vector, int* error);

MrHandle RegisterMr(std::shared_ptr<const VerbsApi> verbs, ibv_pd* pd, void* address, size_t length,
                    int access, int* error);
QpHandle CreateQp(std::shared_ptr<const VerbsApi> verbs, ibv_pd* pd, ibv_qp_init_attr attributes,
                  int* error);

/// Acknowledges one event exactly once, at the end of a scope.
class EventAck {
 public:
  EventAck(const VerbsApi& verbs, ibv_async_event* event) : verbs_(verbs), event_(event) {}
  ~EventAck() { verbs_.ack_async_event(event_); }
  EventAck(const EventAck&) = delete;
  EventAck& operator=(const EventAck&) = delete;

 private:
  const VerbsApi& verbs_;
  ibv_async_event* event_;
};

}  // namespace nicmon
