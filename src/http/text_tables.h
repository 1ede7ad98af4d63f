#pragma once

#include <string>
#include <vector>

#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"

namespace nicmon::http {

/// What is wrong, for people: 0 a problem, 1 out of service on purpose, 2 in order.
int ProblemRank(const PortView& port);
int ProblemRank(const DeviceView& device);

/// Ports and devices as people read them: problems first, then PCI order.
std::vector<const PortView*> PortsByProblem(const NodeView& view);
std::vector<const DeviceView*> DevicesByProblem(const NodeView& view);

/// "link since 2026-01-31T23:59:59.123Z; admin (bad cable) by ops until …"; empty without a pause.
std::string PauseText(const PortView& port);
/// "400", "2.5"; "-" when unknown.
std::string GbpsText(const std::optional<uint64_t>& bps);

/// Aligned tables with a header line; unknown is "-".
std::string PortTable(const std::vector<const PortView*>& ports);
std::string DeviceTable(const std::vector<const DeviceView*>& devices);
std::string HoldTable(const NodeView& view);
/// Newest first, with a line about the next page where there is one.
std::string EventTable(const EventPage& page);
std::string AuditTable(const EventPage& page);

}  // namespace nicmon::http
