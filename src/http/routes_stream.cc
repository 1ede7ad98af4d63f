// What happens: server-sent events.
#include "http/access.h"
#include "http/refusals.h"
#include "http/routes.h"
#include "http/stream_hub.h"

namespace nicmon::http {

Reply GetStream(Call& call) {
  Reply reply;
  reply.content_type = "text/event-stream";
  reply.headers.emplace_back("X-Accel-Buffering", "no");  // for a proxy that collects replies
  if (call.request.method == "HEAD") {
    return reply;
  }
  reply.stream = call.service.stream->Join(PeerName(call.request.peer));
  if (reply.stream == nullptr) {
    call.service.stats->Rejected("connection_limit");
    reply = ErrorReply(503, "too_many_streams", "there are as many streams as may be",
                       "close one, or poll " + Look("ports"));
    reply.headers.emplace_back("Retry-After", "10");
  }
  return reply;
}

}  // namespace nicmon::http
