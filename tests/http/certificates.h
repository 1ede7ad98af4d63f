#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

namespace nicmon::http {

/// A certificate and its key, PEM.
struct Issued {
  std::string cert, key;
};

/// A certificate authority that lives as long as a test.
class Authority {
 public:
  explicit Authority(const std::string& name = "test authority");
  ~Authority();

  /// `sans` as OpenSSL writes them ("DNS:a.example,IP:127.0.0.1"), empty: none. Good for servers
  /// and clients, from a minute ago for `seconds`.
  Issued Issue(const std::string& common_name, const std::string& sans, long seconds = 3600) const;
  const std::string& pem() const { return own_.cert; }

 private:
  Issued Sign(const std::string& common_name, const std::string& sans, long seconds, EVP_PKEY* key,
              bool authority) const;

  std::string name_;
  EVP_PKEY* key_;
  Issued own_;
};

}  // namespace nicmon::http
