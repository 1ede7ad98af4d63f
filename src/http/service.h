#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "http/about.h"
#include "http/allowance.h"
#include "http/message.h"
#include "http/passwords.h"
#include "http/stream_hub.h"
#include "http/token_file.h"
#include "http/web_config.h"
#include "nicmon/base/rate_limit.h"
#include "nicmon/http/backend.h"
#include "nicmon/http/http_stats.h"
#include "nicmon/http/server.h"

namespace nicmon::http {

/// What the routes share. Owned by the server and by every connection under way.
struct Service {
  explicit Service(HttpOptions given = {}) : options(std::move(given)) {}

  HttpOptions options;
  Backend backend;
  About about;
  std::shared_ptr<HttpStats> stats;
  std::unique_ptr<TokenFile> tokens;   // nullptr without --admin-token-file
  std::unique_ptr<WebConfigFile> web;  // nullptr without --web-config-file
  Passwords passwords;                 // of web's users
  Allowance token_actions{options.token_rate.per_second, options.token_rate.at_once};
  Allowance socket_actions{options.socket_rate.per_second, options.socket_rate.at_once};
  Allowance wrong_credentials{options.refused_rate.per_second, options.refused_rate.at_once};
  /// Ends the TCP connections but one: what they were let in by has changed. May be empty.
  std::function<void(uint64_t except)> end_connections;
  std::shared_ptr<StreamHub> stream;  // of GET /api/v1/stream
  std::string host_name;              // of this machine, for the Host check
  std::atomic<bool> stopping{false};
  std::mutex refusals_mutex;  // guards refusals
  RateLimit refusals;         // of log lines about refused operator requests
};

/// What an operator's action did, for the log. Empty: does not apply.
struct Audit {
  std::string device, port, reason, until, hold;
  std::string held_by;   // who set what this action lifted or replaced
  std::string replaced;  // the holds and releases that gave way to it
  std::string found;     // what a probe found out
  std::string again;     // a command that sets the hold again, ready to be pasted
};

/// One request on its way through a handler.
struct Call {
  Service& service;
  const Request& request;
  std::map<std::string, std::string> segments;    // by name in the pattern, decoded
  std::map<std::string, std::string> parameters;  // query and body
  std::string who;  // operator routes: "token=NAME" or "uid=0", with "cert=NAME" behind it
  Audit audit;

  const std::string* Find(const std::string& parameter) const {
    const auto found = parameters.find(parameter);
    return found == parameters.end() ? nullptr : &found->second;
  }
  /// A `by` parameter, else who sent it.
  std::string By() const {
    const std::string* by = Find("by");
    return by != nullptr && !by->empty() ? *by : who;
  }
  bool stopping() const { return service.stopping.load(); }
  WallTime now() const { return service.backend.clock.wall(); }
};

Reply JsonReply(int status, std::string body);
Reply TextReply(int status, std::string body);
/// The state directory did not take an operator's decision: 503, nothing has changed.
Reply NotStored(const std::string& why);

/// Has tokens and web config read again when their files have changed; the request or connection
/// under way on connection `id` goes on with what is new.
void LookForChanges(Service& service, uint64_t id);

/// Answers one request: route, access, parameters, handler. Never throws.
Reply Dispatch(Service& service, const Request& request);

}  // namespace nicmon::http
