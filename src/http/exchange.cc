#include "http/exchange.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace nicmon::http {
namespace {

/// Memory in place of a socket: the request is whole, the reply is taken as a whole.
class MemoryStream : public httplib::Stream {
 public:
  explicit MemoryStream(std::string input) : input_(std::move(input)) {}

  bool is_readable() const override { return offset_ < input_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* data, size_t size) override {
    const size_t n = std::min(size, input_.size() - offset_);
    std::memcpy(data, input_.data() + offset_, n);
    offset_ += n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* data, size_t size) override {
    output_.append(data, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& /*ip*/, int& port) const override { port = 0; }
  void get_local_ip_and_port(std::string& /*ip*/, int& port) const override { port = 0; }
  // No number of a real socket: the library would answer 500 for one beyond FD_SETSIZE.
  socket_t socket() const override { return INVALID_SOCKET; }

  std::string TakeOutput() { return std::move(output_); }

 private:
  std::string input_;
  size_t offset_ = 0;
  std::string output_;
};

class Codec : public httplib::Server {
 public:
  /// Takes the reply's body, which may be long.
  Codec(Reply& reply, int keep_alive_seconds) {
    set_keep_alive_timeout(keep_alive_seconds);
    set_keep_alive_max_count(1000);
    set_pre_routing_handler([&reply](const httplib::Request& request, httplib::Response& out) {
      out.status = reply.status;
      out.body = std::move(reply.body);
      if (!out.body.empty()) {
        out.set_header("Content-Type", reply.content_type);
      }
      for (const auto& [name, value] : reply.headers) {
        out.set_header(name.c_str(), value);
      }
      if (request.method == "HEAD") {
        out.set_header("Accept-Ranges", "none");  // the library would claim "bytes"
      }
      return HandlerResponse::Handled;
    });
  }

  void Process(httplib::Stream& stream, bool close) {
    Call(&Codec::process_request, stream, close);
  }

 private:
  using Setup = std::function<void(httplib::Request&)>;

  // process_request has one of two forms (0.11 and 0.18); the type of the pointer picks the call.
  void Call(bool (httplib::Server::*process)(httplib::Stream&, bool, bool&, const Setup&),
            httplib::Stream& stream, bool close) {
    bool closed = false;
    (this->*process)(stream, close, closed, nullptr);
  }
  void Call(bool (httplib::Server::*process)(httplib::Stream&, const std::string&, int,
                                             const std::string&, int, bool, bool&, const Setup&),
            httplib::Stream& stream, bool close) {
    bool closed = false;
    (this->*process)(stream, "", 0, "", 0, close, closed, nullptr);
  }
};

}  // namespace

std::string Encode(const std::string& method, Reply reply, bool close, int keep_alive_seconds) {
  MemoryStream stream(method + " / HTTP/1.1\r\n\r\n");
  Codec(reply, keep_alive_seconds).Process(stream, close);
  std::string bytes = stream.TakeOutput();
  if (reply.status == 304) {
    // It has no body, and a length would be that of the page which it stands for: not 0.
    const std::string length = "Content-Length: 0\r\n";
    bytes.erase(bytes.find(length), length.size());
  }
  return bytes;
}

std::string EncodeStreamHead(const Reply& reply) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: " + reply.content_type + "\r\n";
  for (const auto& [name, value] : reply.headers) {
    head += name + ": " + value + "\r\n";
  }
  return head + "Connection: close\r\n\r\n";
}

}  // namespace nicmon::http
