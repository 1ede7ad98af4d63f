#pragma once

#include "http/service.h"

/// The handlers of the route table (route_table.cc).
namespace nicmon::http {

Reply GetMetrics(Call& call);
Reply GetHealth(Call& call);
Reply GetReady(Call& call);
Reply GetStatusPage(Call& call);
Reply GetNode(Call& call);
Reply GetDevices(Call& call);
Reply GetDevice(Call& call);
Reply GetPorts(Call& call);
Reply GetPort(Call& call);
Reply GetHolds(Call& call);
Reply GetSelect(Call& call);
Reply GetEvents(Call& call);
Reply GetAudit(Call& call);
Reply GetStream(Call& call);

Reply PostPause(Call& call);
Reply PostResume(Call& call);
Reply DeleteHold(Call& call);
Reply PostAcceptSpeed(Call& call);
Reply PostForget(Call& call);

Reply PostPortRequery(Call& call);
Reply PostProbe(Call& call);
Reply PostDeviceRequery(Call& call);
Reply PostDeviceRelease(Call& call);
Reply PostDeviceReopen(Call& call);
Reply PostReleaseAll(Call& call);
Reply PostReopenAll(Call& call);
Reply PutLogLevel(Call& call);
Reply PostSimulator(Call& call);

}  // namespace nicmon::http
