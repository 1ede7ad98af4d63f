#pragma once

#include <string>

namespace nicmon::http {

/// What OpenSSL says of the last failure on this thread, and forgets it; `otherwise` when it says
/// nothing.
std::string OpensslError(const std::string& otherwise);

}  // namespace nicmon::http
