#include "http/tls_names.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

template <typename T>
using Named = std::pair<std::string_view, T>;

constexpr Named<ClientAuth> kClientAuth[] = {
    {"NoClientCert", ClientAuth::kNone},
    {"RequestClientCert", ClientAuth::kRequest},
    {"RequireAnyClientCert", ClientAuth::kRequireAny},
    {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
    {"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerify},
};

constexpr Named<int> kVersions[] = {{"TLS12", TLS1_2_VERSION}, {"TLS13", TLS1_3_VERSION}};

constexpr Named<std::string_view> kCiphers[] = {
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
};

// Of TLS 1.3, where both have the same names.
constexpr Named<std::string_view> kCiphersuites[] = {
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"},
    {"TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"},
    {"TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"},
};

constexpr Named<std::string_view> kCurves[] = {
    {"CurveP256", "P-256"},
    {"CurveP384", "P-384"},
    {"CurveP521", "P-521"},
    {"X25519", "X25519"},
    {"X25519MLKEM768", "X25519MLKEM768"},  // OpenSSL 3.5 and later
};

template <typename T, size_t kSize>
const Named<T>* Find(const Named<T> (&table)[kSize], std::string_view name) {
  const auto* const found = std::find_if(std::begin(table), std::end(table),
                                         [&](const Named<T>& row) { return row.first == name; });
  return found == std::end(table) ? nullptr : found;
}

template <typename T, size_t kSize>
std::string Listed(const Named<T> (&table)[kSize]) {
  std::string text;
  for (const auto& [name, value] : table) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

std::string NotOneOf(const std::string& name, const std::string& accepted) {
  return log::Quoted(name) + " is not accepted, give " + accepted;
}

void Append(std::string* list, std::string_view name) {
  *list += (list->empty() ? "" : ":") + std::string(name);
}

}  // namespace

std::string SetClientAuth(const std::string& name, TlsSettings* settings) {
  // What the toolkit accepts as well.
  const auto* const found =
      Find(kClientAuth, name == "RequireClientCert" ? "RequireAnyClientCert" : name);
  if (found == nullptr) {
    return NotOneOf(name, Listed(kClientAuth));
  }
  settings->client_auth = found->second;
  return "";
}

std::string ParseVersion(const std::string& name, int* version) {
  const auto* const found = Find(kVersions, name);
  if (found == nullptr) {
    const bool old = name == "TLS10" || name == "TLS11";
    return NotOneOf(name, Listed(kVersions)) + (old ? ": older ones are not safe any more" : "");
  }
  *version = found->second;
  return "";
}

std::string SetCiphers(const std::vector<std::string>& names, TlsSettings* settings) {
  for (const std::string& name : names) {
    const bool go_alias = name.ends_with("_WITH_CHACHA20_POLY1305");
    if (const auto* const of_12 = Find(kCiphers, go_alias ? name + "_SHA256" : name)) {
      Append(&settings->ciphers, of_12->second);
    } else if (const auto* const of_13 = Find(kCiphersuites, name)) {
      Append(&settings->ciphersuites, of_13->second);
    } else {
      return NotOneOf(name, Listed(kCiphers) + ", " + Listed(kCiphersuites));
    }
  }
  return "";
}

std::string SetCurves(const std::vector<std::string>& names, TlsSettings* settings) {
  for (const std::string& name : names) {
    const auto* const found = Find(kCurves, name);
    if (found == nullptr) {
      return NotOneOf(name, Listed(kCurves));
    }
    Append(&settings->groups, found->second);
  }
  return "";
}

}  // namespace nicmon::http
