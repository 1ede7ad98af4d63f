#pragma once

#include <string>
#include <vector>

#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"

namespace nicmon::http {

/// Ports and devices as people read them: problems first, then PCI order.
std::vector<const PortView*> PortsByProblem(const NodeView& view);
std::vector<const DeviceView*> DevicesByProblem(const NodeView& view);

/// Aligned tables with a header line; unknown is "-".
std::string PortTable(const std::vector<const PortView*>& ports);
std::string DeviceTable(const std::vector<const DeviceView*>& devices);
std::string HoldTable(const NodeView& view);
/// Newest first, with a line about the next page where there is one.
std::string EventTable(const EventPage& page);
std::string AuditTable(const EventPage& page);

}  // namespace nicmon::http
