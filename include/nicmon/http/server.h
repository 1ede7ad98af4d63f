#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "nicmon/http/backend.h"
#include "nicmon/http/http_stats.h"

namespace nicmon {

/// Of GET /api/v1/stream.
struct StreamOptions {
  size_t max_clients = 32;                         // on all listeners together
  size_t backlog_bytes = size_t{4} << 20;          // a client that is further behind is dropped
  Duration refresh = std::chrono::seconds(1);      // for what changes without a record
  Duration keep_alive = std::chrono::seconds(15);  // a comment, to find out who is gone
};

/// How often somebody may do something: in the long run, and at once.
struct RateOptions {
  double per_second;
  double at_once;
};

struct HttpOptions {
  std::string listen_host = "::";
  uint16_t listen_port = 9879;         // 0: any
  bool fall_back_to_ipv4 = true;       // "::" without IPv6 on this host → 0.0.0.0
  std::string admin_socket;            // empty: none
  std::string admin_socket_group;      // empty: leave the group
  bool admin_socket_required = false;  // else an unusable path is replaced, with a warning
  std::string admin_token_file;        // empty: operator routes over TCP answer 403
  bool admin_allow_plaintext = false;
  std::string web_config_file;         // exporter-toolkit YAML; empty: no TLS, no passwords
  RateOptions token_rate{20, 100};     // operator requests by one token
  RateOptions socket_rate{100, 1000};  // and by one user on the admin socket
  RateOptions refused_rate{1, 20};     // credentials that are wrong, from one address
  Duration command_timeout = std::chrono::seconds(5);
  int max_connections = 64;                             // per listener
  Duration request_timeout = std::chrono::seconds(10);  // from a request's first byte to its last
  Duration idle_timeout = std::chrono::seconds(75);     // between two requests of a connection
  Duration write_timeout = std::chrono::seconds(10);    // for a client to take its reply
  StreamOptions stream;
};

/// The TCP listener and the admin socket over one route table.
class HttpServer {
 public:
  /// Binds both listeners; throws std::runtime_error with one line that says what to do.
  HttpServer(HttpOptions options, Backend backend, std::shared_ptr<HttpStats> stats);
  ~HttpServer();

  void Start();
  /// Closes listeners and client connections and unlinks the socket, without waiting. A request
  /// that is being answered may still send its reply: stop what it waits for, then call Stop().
  void Close();
  /// Close(), then waits at most `timeout` for handlers. Whether all ended.
  bool Stop(Duration timeout);
  /// Re-reads the token file and the web config file with what it names (SIGHUP; also done when
  /// one of them changes). The last good ones stay.
  void Reload();
  /// What feeds the event stream; to be told every record, never blocks, may outlive the server.
  std::function<void(std::span<const Transition>)> stream_listener() const;
  /// Whether the last (re)load of files succeeded.
  bool config_reload_ok() const;

  std::string tcp_address() const;   // "[::]:9879", with the port really bound
  std::string admin_socket() const;  // the path really used, empty when none

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

/// Why the server could not use `path` as its token file, in one line; empty when it can.
std::string TokenFileProblem(const std::string& path);
/// The same of a web config file and the certificates it names.
std::string WebConfigProblem(const std::string& path);

}  // namespace nicmon
