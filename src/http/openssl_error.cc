#include "http/openssl_error.h"

#include <openssl/err.h>

namespace nicmon::http {

std::string OpensslError(const std::string& otherwise) {
  const unsigned long code = ::ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return reason == nullptr ? otherwise : reason;
}

}  // namespace nicmon::http
