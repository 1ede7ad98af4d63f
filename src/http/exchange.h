#pragma once

#include <functional>
#include <string>

#include "http/message.h"

namespace nicmon::http {

/// Puts one reply into HTTP/1.1 bytes by way of cpp-httplib, which sees nothing but a request line
/// made of `method` and a path of our own: whatever a client sent has been parsed and judged
/// before (request_head.h), so none of the library's own parsing is reachable from outside.
/// Ends with "Connection: close" when `close` is set. HEAD replies have no body.
std::string Encode(const std::string& method, Reply reply, bool close, int keep_alive_seconds);

/// The head of a reply whose body ends with the connection.
std::string EncodeStreamHead(const Reply& reply);

}  // namespace nicmon::http
