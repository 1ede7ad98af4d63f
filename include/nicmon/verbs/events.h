#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace nicmon {

/// IBV_EVENT_DEVICE_SPEED_CHANGE, which rdma-core has from 62 on.
inline constexpr int kDeviceSpeedChange = 20;

enum class EventScope {
  kPort,
  kDevice,
  kQueuePair,
  kCompletionQueue,
  kSharedReceiveQueue,
  kWorkQueue,
  kUnknown
};

/// One row per ibv_event_type. `name` is the label value in metrics, JSON and logs.
struct EventType {
  int number;
  std::string_view name;  // "port_active"
  EventScope scope;
};

/// Rows 0 … 20, indexed by number.
inline constexpr int kEventTypeCount = 21;
const std::array<EventType, kEventTypeCount>& EventTypes();

/// The row of a number; nullptr for one we do not know.
const EventType* FindEventType(int number);

/// A copy of an event that stays valid after its ack. `port` is set for port-scoped types only (the
/// other union members are never read: we own no such object's pointer after the ack).
struct AsyncEvent {
  int type = 0;
  int port = 0;
};

}  // namespace nicmon
