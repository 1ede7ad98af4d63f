#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/message.h"

namespace nicmon::http {

inline constexpr size_t kMaxHeadBytes = 16 * 1024;  // request line and headers
inline constexpr size_t kMaxTargetBytes = 8 * 1024;
inline constexpr size_t kMaxPathBytes = 1024;
inline constexpr size_t kMaxHeaders = 100;
inline constexpr size_t kMaxBodyBytes = 64 * 1024;

/// What a request's head says, checked: everything behind it is framed without doubt.
struct Head {
  Request request;  // without body and peer
  size_t content_length = 0;
  bool expect_continue = false;
  bool close = false;  // the client wants the connection closed after the reply
};

/// A request that is answered before it reaches the routes; the connection is closed after it,
/// because what follows on it cannot be told apart from a body.
struct Rejection {
  const char* reason;  // label of nicmon_http_rejected_total
  Reply reply;
};

/// Parses everything up to and with the empty line. Refuses what two parsers could read in two
/// ways: bare CR or LF, control bytes, folded lines, blanks before a colon, repeated Host or
/// Content-Length, any Transfer-Encoding (RFC 9112 §5, §6). Never throws.
bool ParseHead(std::string_view bytes, Head* head, Rejection* rejection);

}  // namespace nicmon::http
