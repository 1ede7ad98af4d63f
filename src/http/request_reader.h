#pragma once

#include <optional>
#include <string>

#include "http/request_head.h"
#include "http/wire.h"

namespace nicmon::http {

/// What became of waiting for a request.
struct Incoming {
  Wire::Io io = Wire::Io::kOk;
  std::optional<Rejection> rejection;  // with kOk: what came is none; the connection has to end
  Head head;                           // with its body, else
};

/// Reads one whole request under byte caps, with an absolute deadline, and answers an
/// "Expect: 100-continue". `buffer` holds what came in and belongs to no request yet.
Incoming ReadRequest(Wire& wire, std::string* buffer, SteadyTime deadline);

}  // namespace nicmon::http
