#include "http/request_reader.h"

#include <algorithm>

namespace nicmon::http {
namespace {

/// Whether `buffer` has a line feed without its carriage return between `begin` and `end`.
bool HasBareLineFeed(const std::string& buffer, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (buffer[i] == '\n' && (i == 0 || buffer[i - 1] != '\r')) {
      return true;
    }
  }
  return false;
}

Rejection NotHttp() {
  return {"malformed", ErrorReply(400, "malformed_request", "this is not an HTTP/1.1 request",
                                  "HTTP/1.1 is spoken here, without TLS unless --web-config-file "
                                  "says so; lines end in CR LF")};
}

Rejection HeadTooLarge() {
  return {"too_large", ErrorReply(400, "headers_too_large", "the headers are too large",
                                  "at most 16 KiB in all")};
}

/// Reads until `buffer` holds a whole head; `*size` is its length.
Wire::Io ReadHead(Wire& wire, std::string* buffer, SteadyTime deadline, size_t* size,
                  std::optional<Rejection>* rejection) {
  size_t scanned = 0;
  for (;;) {
    // Empty lines before a request are let pass (RFC 9112 §2.2).
    while (buffer->compare(0, 2, "\r\n") == 0) {
      buffer->erase(0, 2);
      scanned = 0;
    }
    const size_t blank = buffer->find("\r\n\r\n", scanned < 3 ? 0 : scanned - 3);
    const size_t end = blank == std::string::npos ? buffer->size() : blank + 4;
    const char first = buffer->empty() ? '\r' : buffer->front();
    const bool letter =
        first == '\r' || (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
    if (!letter || HasBareLineFeed(*buffer, scanned, std::min(end, kMaxHeadBytes))) {
      *rejection = NotHttp();
      return Wire::Io::kOk;
    }
    if (end > kMaxHeadBytes) {
      *rejection = HeadTooLarge();
      return Wire::Io::kOk;
    }
    if (blank != std::string::npos) {
      *size = end;
      return Wire::Io::kOk;
    }
    scanned = buffer->size();
    if (const Wire::Io io = wire.Read(buffer, deadline); io != Wire::Io::kOk) {
      return io;
    }
  }
}

Wire::Io ReadBody(Wire& wire, std::string* buffer, SteadyTime deadline, size_t end) {
  Wire::Io io = Wire::Io::kOk;
  while (io == Wire::Io::kOk && buffer->size() < end) {
    io = wire.Read(buffer, deadline);
  }
  return io;
}

}  // namespace

Incoming ReadRequest(Wire& wire, std::string* buffer, SteadyTime deadline) {
  Incoming in;
  size_t size = 0;
  in.io = ReadHead(wire, buffer, deadline, &size, &in.rejection);
  if (in.io != Wire::Io::kOk || in.rejection) {
    return in;
  }
  Head& head = in.head;
  Rejection rejection{};
  if (!ParseHead(std::string_view(*buffer).substr(0, size), &head, &rejection)) {
    in.rejection = std::move(rejection);
    return in;
  }
  if (head.expect_continue && head.content_length > 0) {
    in.io = wire.Write("HTTP/1.1 100 Continue\r\n\r\n", deadline);
  }
  if (in.io == Wire::Io::kOk) {
    in.io = ReadBody(wire, buffer, deadline, size + head.content_length);
  }
  if (in.io == Wire::Io::kOk) {
    head.request.body = buffer->substr(size, head.content_length);
    buffer->erase(0, size + head.content_length);
  }
  return in;
}

}  // namespace nicmon::http
