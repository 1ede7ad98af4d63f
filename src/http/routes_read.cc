#include "http/gzip.h"
#include "http/json.h"
#include "http/lookup.h"
#include "http/render.h"
#include "http/routes.h"
#include "http/status_page.h"
#include "http/text_tables.h"

namespace nicmon::http {
Reply GetMetrics(Call& call) {
  Reply reply;
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  reply.body = call.service.backend.metrics();
  reply.headers.emplace_back("Vary", "Accept-Encoding");
  const std::string* accept = call.request.Header("accept-encoding");
  if (accept != nullptr && AcceptsGzip(*accept)) {
    if (auto packed = Gzip(reply.body); packed) {
      reply.body = std::move(*packed);
      reply.headers.emplace_back("Content-Encoding", "gzip");
    }
  }
  return reply;
}

Reply GetHealth(Call& call) {
  if (call.service.backend.healthy()) {
    return JsonReply(200, json::Object({{"status", std::string("ok")}}));
  }
  Reply reply = ErrorReply(503, "unhealthy", "nicmon's own work does not get done",
                           "see its log; a broken NIC never causes this");
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Reply GetReady(Call& call) {
  const NodeView view = call.service.backend.view();
  Reply reply = JsonReply(view.Ready() ? 200 : 503, json::Ready(view));
  if (reply.status == 503) {
    reply.headers.emplace_back("Retry-After", "1");
  }
  return reply;
}

Reply GetStatusPage(Call& call) {
  return StatusPage(call.request);
}

Reply GetNode(Call& call) {
  return JsonReply(200, json::Node(call.service.backend.view(), call.service.about));
}

Reply GetDevices(Call& call) {
  const NodeView view = call.service.backend.view();
  return Render(
      call, [&] { return DeviceTable(DevicesByProblem(view)); },
      [&] { return json::Devices(view); });
}

Reply GetDevice(Call& call) {
  const NodeView view = call.service.backend.view();
  auto device = FindDevice(call, view);
  if (!device) {
    return device.error;
  }
  return Render(
      call, [&] { return DeviceTable({*device}); }, [&] { return json::Device(**device); });
}

Reply GetPorts(Call& call) {
  const NodeView view = call.service.backend.view();
  return Render(
      call, [&] { return PortTable(PortsByProblem(view)); }, [&] { return json::Ports(view); });
}

Reply GetPort(Call& call) {
  const NodeView view = call.service.backend.view();
  auto port = FindPort(call, view);
  if (!port) {
    return port.error;
  }
  return Render(
      call, [&] { return PortTable({*port}); }, [&] { return json::Port(**port); });
}

Reply GetHolds(Call& call) {
  const NodeView view = call.service.backend.view();
  return Render(
      call, [&] { return HoldTable(view); }, [&] { return json::HoldList(view); });
}

}  // namespace nicmon::http
