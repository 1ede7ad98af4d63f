#include "nicmon/monitor/snapshot.h"
#include "nicmon/verbs/events.h"

namespace nicmon {

const std::vector<DeviceEventRow>& DeviceEventRows() {
  static const std::vector<DeviceEventRow> rows = [] {
    std::vector<DeviceEventRow> found;
    for (const EventType& type : EventTypes()) {
      if (type.scope != EventScope::kPort && type.scope != EventScope::kUnknown) {
        found.push_back({type.number, type.name, type.scope != EventScope::kDevice});
      }
    }
    return found;
  }();
  return rows;
}

}  // namespace nicmon
