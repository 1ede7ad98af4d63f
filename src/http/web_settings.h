#pragma once

#include <optional>
#include <string>

#include "http/message.h"
#include "http/passwords.h"
#include "http/tls_context.h"

namespace nicmon::http {

/// What a --web-config-file says, in the syntax of the Prometheus exporter toolkit.
struct WebSettings {
  std::optional<TlsSettings> tls;
  Headers headers;  // for every reply over TCP
  Users users;      // empty: no basic auth
  /// The file, or a section of it, has nothing in it, not even {}: it means none, as in the
  /// toolkit, but looks the same while somebody is about to write it.
  bool unsaid = false;
};

/// Parses `text`; relative paths are taken to be below `directory`. Everything the toolkit knows
/// and we do not do is an error; an empty file and empty sections are not. Returns what is wrong,
/// in one line with the line's number and what is accepted, and nothing that is secret; empty:
/// nothing. Never throws.
std::string ParseWebSettings(const std::string& text, const std::string& directory,
                             WebSettings* settings);

}  // namespace nicmon::http
