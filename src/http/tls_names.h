#pragma once

#include <string>
#include <vector>

#include "http/tls_context.h"

namespace nicmon::http {

// What tls_server_config calls things, which is what Go calls them. Each returns what is wrong, in
// one line with what is accepted; empty: nothing, and the settings have it.

std::string SetClientAuth(const std::string& name, TlsSettings* settings);
/// "TLS12", "TLS13".
std::string ParseVersion(const std::string& name, int* version);
/// "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" and so on, in order of preference.
std::string SetCiphers(const std::vector<std::string>& names, TlsSettings* settings);
/// "CurveP256", "X25519" and so on.
std::string SetCurves(const std::vector<std::string>& names, TlsSettings* settings);

}  // namespace nicmon::http
