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
};

/// Parses `text`; relative paths are taken to be below `directory`. Everything the toolkit knows
/// and we do not do is an error. Returns what is wrong, in one line with the line's number and what
/// is accepted, and nothing that is secret; empty: nothing. Never throws.
std::string ParseWebSettings(const std::string& text, const std::string& directory,
                             WebSettings* settings);

}  // namespace nicmon::http
