#pragma once

#include <optional>
#include <string>

#include "ctl/command_table.h"

namespace nicmon::ctl {

/// Where a nicmon is asked: on its admin socket, or over TCP.
struct Endpoint {
  std::string socket;  // empty: TCP
  bool tls = false;
  std::string host;
  int port = 0;
  std::string token;
  std::string ca_file;

  /// For messages: the path, or "http://host:port".
  std::string Name() const;
};

/// What the flags say; without --socket and --url the socket that NICMON_ADMIN_SOCKET names, else
/// the daemon's default, else the place below $XDG_RUNTIME_DIR that the daemon falls back to.
/// nullopt: `error` says in one line what is wrong and what to do.
std::optional<Endpoint> FindEndpoint(const Invocation& invocation, std::string* error);

/// "http://host:port", "https://[::1]"; nullopt for anything else.
std::optional<Endpoint> ParseUrl(const std::string& url);

/// The token of a file: its first line that is neither empty nor a comment, without a "name:" in
/// front. nullopt: `error` says why.
std::optional<std::string> ReadToken(const std::string& path, std::string* error);

}  // namespace nicmon::ctl
