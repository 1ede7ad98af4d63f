#pragma once

#include <openssl/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// What is asked of clients, by Go's names.
enum class ClientAuth {
  kNone,              // NoClientCert
  kRequest,           // RequestClientCert: any, or none
  kRequireAny,        // RequireAnyClientCert: any, not verified
  kVerifyIfGiven,     // VerifyClientCertIfGiven
  kRequireAndVerify,  // RequireAndVerifyClientCert
};

/// tls_server_config, checked; names of algorithms are OpenSSL's by now.
struct TlsSettings {
  std::string cert_file, key_file;
  std::string client_ca_file;  // empty: none
  ClientAuth client_auth = ClientAuth::kNone;
  std::vector<std::string> client_allowed_sans;  // empty: all
  int min_version = 0;                           // TLS1_2_VERSION
  int max_version = 0;                           // TLS1_3_VERSION
  std::string ciphers;                           // of TLS 1.2
  std::string ciphersuites;                      // of TLS 1.3; empty: OpenSSL's own
  std::string groups;                            // empty: OpenSSL's own
  bool prefer_server_ciphers = true;
};

/// The contents of the files that TlsSettings names, PEM.
struct TlsFiles {
  std::string cert, key, client_ca;
};

/// What connections speak TLS by. Made once, then only read, by any number of threads.
class TlsContext {
 public:
  /// nullptr: `error` says in one line what is wrong, and nothing of the key.
  static std::shared_ptr<const TlsContext> Make(const TlsSettings& settings, const TlsFiles& files,
                                                std::string* error);
  ~TlsContext();

  SSL_CTX* get() const { return context_.get(); }
  /// When the server's certificate ends.
  WallTime not_after() const { return not_after_; }
  /// The verified certificate's name: the allowed SAN that it was let in for, else its first DNS
  /// name, URI, mail or IP address, else its common name, else its serial number. Empty: there is
  /// no verified one.
  std::string ClientName(SSL* ssl) const;
  /// Why a certificate was refused, in a few words.
  std::string VerifyText(long result) const;

 private:
  struct Free {
    void operator()(SSL_CTX* context) const;
  };
  explicit TlsContext(const TlsSettings& settings);
  std::string SetUp(const TlsSettings& settings);
  std::string UseCertificate(const std::string& pem);
  std::string UseKey(const std::string& pem);
  std::string UseClientCa(const std::string& pem);
  bool verifies() const;
  static int Verify(int preverified, X509_STORE_CTX* store);

  const ClientAuth client_auth_;
  const std::set<std::string> allowed_sans_;
  WallTime not_after_{};
  std::unique_ptr<SSL_CTX, Free> context_;
};

}  // namespace nicmon::http
