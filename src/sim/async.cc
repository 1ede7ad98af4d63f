#include <unistd.h>

#include <cerrno>

#include "calls.h"

namespace nicmon::sim {
namespace {

// Fills the union member that belongs to the type. Where that is a pointer to somebody's object it
// is one that must not be followed: a reader of events owns no such object.
void FillElement(ibv_async_event* event, int port) {
  switch (static_cast<int>(event->event_type)) {
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
    case IBV_EVENT_WQ_FATAL:
      event->element.qp = reinterpret_cast<ibv_qp*>(uintptr_t{0x5a5a5a5a});
      break;
    default:
      event->element.qp = nullptr;
      event->element.port_num = port;
  }
}

}  // namespace

// As the library and the kernel: one read of the fd is one event. Without the node's mutex unless
// a fault is set anywhere, because storms go through here.
int GetAsyncEvent(Node& node, ibv_context* context, ibv_async_event* out) {
  Context& ours = *ContextOf(context);
  node.faults.Count(Verb::kGetAsyncEvent);
  if (node.faults.Armed()) {
    Lock lock(node.mutex);
    const int slot = ours.entry.registration->device->slot;
    if (const int error = node.faults.Enter(lock, slot, Verb::kGetAsyncEvent)) {
      return error;
    }
  }
  uint64_t token = 0;
  const ssize_t size = ::read(context->async_fd, &token, sizeof(token));
  if (size < 0) {
    return errno;
  }
  int port = 0;
  {
    std::lock_guard lock(ours.queue_mutex);
    if (size != sizeof(token) || ours.queue.empty()) {
      return EPROTO;
    }
    QueuedEvents& front = ours.queue.front();
    out->event_type = static_cast<ibv_event_type>(front.type);
    port = front.port;
    if (--front.count == 0) {
      ours.queue.pop_front();
    }
  }
  FillElement(out, port);
  node.unacked_events.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

void AckAsyncEvent(Node& node) {
  node.faults.Count(Verb::kAckAsyncEvent);
  if (node.unacked_events.fetch_sub(1, std::memory_order_relaxed) <= 0) {
    node.unacked_events.fetch_add(1, std::memory_order_relaxed);
    node.misuses.fetch_add(1);
  }
}

}  // namespace nicmon::sim
