#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nicmon::http {

/// `text` as one gzip member, at the fastest level: a scrape is compressed on every request.
/// nullopt when zlib fails.
std::optional<std::string> Gzip(std::string_view text);

/// Whether an Accept-Encoding header value takes gzip ("gzip;q=0" does not).
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace nicmon::http
