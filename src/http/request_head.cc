#include "http/request_head.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "http/text.h"

namespace nicmon::http {
namespace {

constexpr std::array<std::string_view, 7> kMethods = {"GET",    "HEAD",    "POST", "PUT",
                                                      "DELETE", "OPTIONS", "PATCH"};
// Repeating one of these makes a request mean two things.
constexpr std::array<std::string_view, 9> kSingle = {
    "host",   "content-length", "content-type", "authorization",  "origin",
    "expect", "sec-fetch-site", "accept",       "accept-encoding"};

bool Fail(Rejection* rejection, int status, const char* reason, std::string_view code,
          std::string_view message, std::string_view hint = "") {
  *rejection = {reason, ErrorReply(status, code, message, hint)};
  return false;
}

bool Malformed(Rejection* rejection, std::string_view message, std::string_view hint = "") {
  return Fail(rejection, 400, "malformed", "malformed_request", message, hint);
}

bool IsTokenChar(char c) {
  return IsAlnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool ParseTarget(std::string_view target, Request* request, Rejection* rejection) {
  if (target.size() > kMaxTargetBytes) {
    return Fail(rejection, 414, "too_large", "uri_too_long", "the request target is too long",
                "at most 8 KiB");
  }
  for (const char c : target) {
    if (c <= ' ' || c > '~' || c == '#' || c == '\\') {
      return Malformed(rejection, "the request target has a character that must be encoded");
    }
  }
  // The absolute form is for proxies, but every server has to take it (RFC 9112 §3.2.2).
  if (target.starts_with("http://") || target.starts_with("https://")) {
    const size_t slash = target.find('/', target.find("//") + 2);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (target.empty() || target.front() != '/') {
    return Malformed(rejection, "the request target must be a path");
  }
  const size_t question = target.find('?');
  request->path = target.substr(0, question);
  if (question != std::string_view::npos) {
    request->query = target.substr(question + 1);
  }
  if (request->path.size() > kMaxPathBytes) {
    return Fail(rejection, 414, "too_large", "uri_too_long", "the path is too long",
                "at most 1 KiB");
  }
  return true;
}

bool ParseRequestLine(std::string_view line, Request* request, Rejection* rejection) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return Malformed(rejection, "the request line is not METHOD TARGET VERSION");
  }
  request->method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Malformed(rejection, "the protocol version is not HTTP/1.1 or HTTP/1.0");
  }
  request->http_1_0 = version == "HTTP/1.0";
  if (request->method.empty() ||
      !std::all_of(request->method.begin(), request->method.end(), IsTokenChar)) {
    return Malformed(rejection, "the method is not a token");
  }
  if (std::find(kMethods.begin(), kMethods.end(), request->method) == kMethods.end()) {
    Fail(rejection, 405, "malformed", "method_not_allowed", "no route has this method", "");
    rejection->reply.headers.emplace_back("Allow", "GET, HEAD, POST, PUT, DELETE");
    return false;
  }
  return ParseTarget(line.substr(first + 1, last - first - 1), request, rejection);
}

bool ParseHeaderLine(std::string_view line, Request* request, Rejection* rejection) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      !std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(colon), IsTokenChar)) {
    return Malformed(rejection, "a header line is not NAME: VALUE");
  }
  const std::string_view value = Trim(line.substr(colon + 1));
  for (const char c : value) {
    if ((static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f) {
      return Malformed(rejection, "a header has a control character");
    }
  }
  const std::string name = Lower(line.substr(0, colon));
  if (std::find(kSingle.begin(), kSingle.end(), name) != kSingle.end() &&
      request->Header(name) != nullptr) {
    return Malformed(rejection, "the header " + name + " is repeated");
  }
  if (request->headers.size() == kMaxHeaders) {
    return Fail(rejection, 400, "too_large", "headers_too_large", "too many headers",
                "at most 100 headers");
  }
  request->headers.emplace_back(name, value);
  return true;
}

bool ParseFraming(Head* head, Rejection* rejection) {
  const Request& request = head->request;
  if (request.Header("transfer-encoding") != nullptr) {
    return Fail(rejection, 400, "malformed", "length_required",
                "chunked and other transfer encodings are not taken",
                "send the body with Content-Length");
  }
  if (const std::string* encoding = request.Header("content-encoding");
      encoding != nullptr && Lower(*encoding) != "identity") {
    return Fail(rejection, 400, "malformed", "encoded_body", "encoded bodies are not taken",
                "send the body without Content-Encoding");
  }
  if (const std::string* length = request.Header("content-length"); length != nullptr) {
    const char* end = length->data() + length->size();
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(length->data(), end, value);
    if (length->empty() || !IsDigit(length->front()) || stop != end ||
        (error != std::errc() && error != std::errc::result_out_of_range)) {
      return Malformed(rejection, "Content-Length is not a decimal number");
    }
    if (error == std::errc::result_out_of_range || value > kMaxBodyBytes) {
      return Fail(rejection, 413, "too_large", "body_too_large", "the body is too large",
                  "at most 64 KiB");
    }
    head->content_length = value;
  }
  if (const std::string* expect = request.Header("expect"); expect != nullptr) {
    head->expect_continue = Lower(*expect) == "100-continue" && !request.http_1_0;
  }
  if (!request.http_1_0 && request.Header("host") == nullptr) {
    return Malformed(rejection, "the Host header is missing");
  }
  const std::string* connection = request.Header("connection");
  const auto has = [&](std::string_view token) {
    return connection != nullptr && HasListToken(*connection, token);
  };
  head->close = has("close") || (request.http_1_0 && !has("keep-alive"));
  return true;
}

}  // namespace

bool ParseHead(std::string_view bytes, Head* head, Rejection* rejection) {
  bool first = true;
  while (!bytes.empty()) {
    const size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) {
      return Malformed(rejection, "a line does not end in CR LF");
    }
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 2);
    if (line.empty()) {
      return first ? Malformed(rejection, "the request line is missing")
                   : ParseFraming(head, rejection);
    }
    if (line.find_first_of("\r\n") != std::string_view::npos ||
        line.find('\0') != std::string_view::npos) {
      return Malformed(rejection, "a line has a control character");
    }
    const bool ok = first ? ParseRequestLine(line, &head->request, rejection)
                          : ParseHeaderLine(line, &head->request, rejection);
    if (!ok) {
      return false;
    }
    first = false;
  }
  return Malformed(rejection, "the headers do not end");
}

}  // namespace nicmon::http
