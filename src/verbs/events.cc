#include "nicmon/verbs/events.h"

#include <cstring>

#include "nicmon/verbs/drain.h"

namespace nicmon {
namespace {

#ifdef NICMON_HAVE_SPEED_CHANGE_EVENT
static_assert(kDeviceSpeedChange == IBV_EVENT_DEVICE_SPEED_CHANGE);
#endif

constexpr std::array<EventType, kEventTypeCount> kEventTypes = {{
    {IBV_EVENT_CQ_ERR, "cq_err", EventScope::kCompletionQueue},
    {IBV_EVENT_QP_FATAL, "qp_fatal", EventScope::kQueuePair},
    {IBV_EVENT_QP_REQ_ERR, "qp_req_err", EventScope::kQueuePair},
    {IBV_EVENT_QP_ACCESS_ERR, "qp_access_err", EventScope::kQueuePair},
    {IBV_EVENT_COMM_EST, "comm_est", EventScope::kQueuePair},
    {IBV_EVENT_SQ_DRAINED, "sq_drained", EventScope::kQueuePair},
    {IBV_EVENT_PATH_MIG, "path_mig", EventScope::kQueuePair},
    {IBV_EVENT_PATH_MIG_ERR, "path_mig_err", EventScope::kQueuePair},
    {IBV_EVENT_DEVICE_FATAL, "device_fatal", EventScope::kDevice},
    {IBV_EVENT_PORT_ACTIVE, "port_active", EventScope::kPort},
    {IBV_EVENT_PORT_ERR, "port_err", EventScope::kPort},
    {IBV_EVENT_LID_CHANGE, "lid_change", EventScope::kPort},
    {IBV_EVENT_PKEY_CHANGE, "pkey_change", EventScope::kPort},
    {IBV_EVENT_SM_CHANGE, "sm_change", EventScope::kPort},
    {IBV_EVENT_SRQ_ERR, "srq_err", EventScope::kSharedReceiveQueue},
    {IBV_EVENT_SRQ_LIMIT_REACHED, "srq_limit_reached", EventScope::kSharedReceiveQueue},
    {IBV_EVENT_QP_LAST_WQE_REACHED, "qp_last_wqe_reached", EventScope::kQueuePair},
    {IBV_EVENT_CLIENT_REREGISTER, "client_reregister", EventScope::kPort},
    {IBV_EVENT_GID_CHANGE, "gid_change", EventScope::kPort},
    {IBV_EVENT_WQ_FATAL, "wq_fatal", EventScope::kWorkQueue},
    {kDeviceSpeedChange, "device_speed_change", EventScope::kDevice},
}};

constexpr bool RowsStandAtTheirNumber() {
  for (int i = 0; i < kEventTypeCount; ++i) {
    if (kEventTypes[static_cast<size_t>(i)].number != i) {
      return false;
    }
  }
  return true;
}
static_assert(RowsStandAtTheirNumber());

}  // namespace

const std::array<EventType, kEventTypeCount>& EventTypes() {
  return kEventTypes;
}

const EventType* FindEventType(int number) {
  if (number < 0 || number >= kEventTypeCount) {
    return nullptr;
  }
  return &kEventTypes[static_cast<size_t>(number)];
}

AsyncEvent CopyEvent(const ibv_async_event& event) {
  AsyncEvent copy;
  // Not read as the enumeration: a later kernel's number may lie outside its range.
  static_assert(sizeof(event.event_type) == sizeof(copy.type));
  std::memcpy(&copy.type, &event.event_type, sizeof(copy.type));
  const EventType* type = FindEventType(copy.type);
  if (type != nullptr && type->scope == EventScope::kPort) {
    copy.port = event.element.port_num;
  }
  return copy;
}

}  // namespace nicmon
