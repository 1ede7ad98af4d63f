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
  std::string token;           // empty: none
  std::string user, password;  // empty: none
  std::string ca_file;         // empty: the system's
  std::string cert, key;       // files of our own certificate; empty: none
  bool insecure = false;       // whoever answers is trusted

  /// For messages: the path, or "http://host:port".
  std::string Name() const;
};

/// A setting of how to reach a nicmon over TCP: the flag, else the variable NICMON_CTL_ and its
/// name in capitals (--ca-file: NICMON_CTL_CA_FILE), else "".
std::string ConnectionSetting(const Invocation& invocation, const std::string& flag);

/// What flags and variables say; without a URL the socket that NICMON_ADMIN_SOCKET names, else
/// the daemon's default, else the place below $XDG_RUNTIME_DIR that the daemon falls back to.
/// nullopt: `error` says in one line what is wrong and what to do.
std::optional<Endpoint> FindEndpoint(const Invocation& invocation, std::string* error);

/// "http://host:port", "https://[::1]"; nullopt for anything else.
std::optional<Endpoint> ParseUrl(const std::string& url);

/// The password of a file: its first line. nullopt: `error` says why.
std::optional<std::string> ReadPassword(const std::string& path, std::string* error);

/// The token of a file: its first line that is neither empty nor a comment, without a "name:" in
/// front. nullopt: `error` says why.
std::optional<std::string> ReadToken(const std::string& path, std::string* error);

}  // namespace nicmon::ctl
