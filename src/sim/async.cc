#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "calls.h"

namespace nicmon::sim {
namespace {

// Fills in the type and the union member that belongs to it. Where that is a pointer to somebody's
// object it is one that must not be followed: a reader of events owns no such object.
void FillEvent(ibv_async_event* event, int type, int port) {
  // A number may lie outside the enumeration's range, as a later kernel's would.
  std::memcpy(&event->event_type, &type, sizeof(type));
  switch (type) {
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

// For a counter that one thread writes and others read.
void Increment(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Takes the next event off; false when there is none. Equal ones come off the queue together, so
// that a storm takes its mutex once. Called with a token from the fd in hand for each.
bool NextEvent(Context& context, ibv_async_event* out) {
  if (context.reading.count == 0) {
    std::lock_guard lock(context.queue_mutex);
    if (context.queue.empty()) {
      return false;
    }
    context.reading = context.queue.front();
    context.queue.pop_front();
  }
  --context.reading.count;
  FillEvent(out, context.reading.type, context.reading.port);
  return true;
}

}  // namespace

// As the library and the kernel: one read of the fd is one event. Without the node's mutex unless
// a fault is set anywhere, because storms go through here.
int GetAsyncEvent(Node& node, ibv_context* context, ibv_async_event* out) {
  Context& ours = *ContextOf(context);
  Increment(ours.reads);
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
  if (size != sizeof(token) || !NextEvent(ours, out)) {
    return EPROTO;
  }
  Increment(ours.delivered);
  return 0;
}

void AckAsyncEvent(Node& node) {
  node.faults.Count(Verb::kAckAsyncEvent);
}

uint64_t Node::Reads() const {
  uint64_t reads = closed_reads;
  for (const auto& [key, context] : contexts) {
    reads += context->reads.load(std::memory_order_relaxed);
  }
  return reads;
}

uint64_t Node::Delivered() const {
  uint64_t delivered = closed_delivered;
  for (const auto& [key, context] : contexts) {
    delivered += context->delivered.load(std::memory_order_relaxed);
  }
  return delivered;
}

}  // namespace nicmon::sim
