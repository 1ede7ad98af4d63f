#pragma once

#include <cerrno>
#include <cstdint>

#include "nicmon/verbs/events.h"
#include "nicmon/verbs/handles.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// How one turn of draining ended.
struct DrainResult {
  uint32_t events = 0;        // taken, acknowledged and handed out
  bool more = false;          // the budget is used up: continue at once, the queue may not be empty
  bool device_fatal = false;  // the last event was DEVICE_FATAL: the context is to be closed
  int error = 0;              // the errno that ended it; 0 for an empty queue
};

/// The copy of an event that outlives its ack; reads only the union member valid for the type.
AsyncEvent CopyEvent(const ibv_async_event& event);

/// Takes queued events of one context until its queue is empty (EAGAIN), at most `budget` reads.
///
/// Each event is copied, acknowledged exactly once, then given to `on_event(const AsyncEvent&)`.
/// EINTR is retried, on the budget too, so that nothing makes this spin. DEVICE_FATAL ends the
/// batch after its ack: the fd goes silent then. Any other error ends it and is reported. The async
/// fd must be O_NONBLOCK; call from the context's own thread.
template <typename OnEvent>
DrainResult DrainEvents(const VerbsApi& verbs, ibv_context* context, uint32_t budget,
                        OnEvent&& on_event) {
  DrainResult result;
  for (uint32_t reads = 0; reads < budget; ++reads) {
    ibv_async_event raw;
    const int error = verbs.get_async_event(context, &raw);
    if (error == EINTR) {
      continue;
    }
    if (error != 0) {
      result.error = (error == EAGAIN || error == EWOULDBLOCK) ? 0 : error;
      return result;
    }
    AsyncEvent event;
    {
      EventAck ack(verbs, &raw);
      event = CopyEvent(raw);
    }
    ++result.events;
    on_event(static_cast<const AsyncEvent&>(event));
    if (event.type == IBV_EVENT_DEVICE_FATAL) {
      result.device_fatal = true;
      return result;
    }
  }
  result.more = true;
  return result;
}

}  // namespace nicmon
