#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "http/certificates.h"
#include "nicmon/base/unique_fd.h"

struct ssl_st;

namespace nicmon::http {

/// A reply as it came over the wire. Names of headers are lower-case.
struct RawReply {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
};

/// How a client speaks TLS.
struct ClientTls {
  std::string ca;         // PEM of whom it trusts; empty: everybody
  Issued own{};           // its certificate, if it has one
  int max_version = 0;    // 0: any
  std::string alpn{};     // as on the wire: "\x02h2"
  std::string ciphers{};  // of TLS 1.2, by OpenSSL's names
};

/// A client that sends exactly the bytes it is told to.
class RawClient {
 public:
  using Seconds = std::chrono::duration<double>;

  /// `target` is "HOST:PORT", "[HOST]:PORT" or the path of a unix socket. Fails the test (and
  /// leaves connected() false) when nobody answers.
  explicit RawClient(const std::string& target);
  /// The same with TLS: secure() tells whether the handshake succeeded.
  RawClient(const std::string& target, const ClientTls& tls);

  bool secure() const { return secure_; }
  ssl_st* ssl() const { return ssl_.get(); }
  /// Of the server's certificate.
  std::string ServerName() const;
  bool connected() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  /// False when the other end is gone.
  bool Send(const std::string& bytes);
  void EndSending();
  /// The next reply; nullopt when the connection ends before, or nothing comes in time. `head`:
  /// the reply is to HEAD and has no body.
  std::optional<RawReply> Receive(bool head = false, Seconds timeout = Seconds(10));
  /// Appends what comes next, whatever it is; false when the connection ends or nothing comes.
  bool ReceiveSome(std::string* out, Seconds timeout = Seconds(10));
  /// Whether the other end has closed the connection within the time; what it sent is dropped.
  bool WaitClosed(Seconds timeout = Seconds(10));

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };
  bool Fill(std::chrono::steady_clock::time_point deadline);

  UniqueFd fd_;
  std::unique_ptr<ssl_st, FreeSsl> ssl_;
  bool secure_ = false;
  std::string buffer_;
  bool closed_ = false;  // by the other end
};

/// One request on a connection of its own. `request` without "Host:" and the empty line.
std::optional<RawReply> Ask(const std::string& target, const std::string& method_and_path,
                            const std::string& headers = "", const std::string& body = "");
/// The next one on a connection.
std::optional<RawReply> Ask(RawClient& client, const std::string& method_and_path,
                            const std::string& headers = "", const std::string& body = "");

}  // namespace nicmon::http
