#pragma once

#include <chrono>
#include <string>

#include "http/http_test.h"

namespace nicmon::http {

/// A node of one device that speaks TLS, an authority that it trusts, and one that it does not.
class Tls : public HttpTest {
 protected:
  // "right", at the least cost that bcrypt has.
  static inline const std::string kUsers =
      "basic_auth_users:\n  user: $2b$04$r23obX5hmfO1v8fGP1vOjOYo6ybUXTejKH4BAPNmAX5a7IOx1/6U.\n";
  static inline const std::string kPassword = "Authorization: Basic dXNlcjpyaWdodA==\r\n";
  static inline const std::string kWrongPassword = "Authorization: Basic dXNlcjp3cm9uZw==\r\n";
  static inline const std::string kToken = "Authorization: Bearer s3cret\r\n";
  static inline const std::string kCa = "  client_ca_file: ca.pem\n";
  static inline const std::string kResume = "POST /api/v1/ports/mlx5_0/1/resume";

  Tls() {
    node_.Add("mlx5_0", "0000:3b:00.0");
    options_.request_timeout = options_.write_timeout = std::chrono::seconds(10);
    options_.admin_token_file = WriteFile("tokens", "ops:s3cret\n");
  }
  void StartTls(const std::string& more = "", const std::string& rest = "") {
    server_.reset();  // the one before, where a test starts several
    options_.web_config_file = WriteWebConfig(authority_, more, rest);
    Start();
  }
  uint64_t Rejected(const std::string& reason) { return stats_->Read().rejected.at(reason); }
  /// 0: TLS did not let it in.
  int Ask(const ClientTls& tls, const std::string& what, const std::string& headers = "") {
    RawClient client(tcp(), tls);
    const auto reply = client.secure() ? http::Ask(client, what, headers) : std::nullopt;
    return reply ? reply->status : 0;
  }
  ClientTls Client() const { return {authority_.pem()}; }
  ClientTls With(const Issued& own) const { return {authority_.pem(), own}; }

  Authority authority_;
  const Issued client_ = authority_.Issue("prometheus", "DNS:prometheus.example");
  const Issued stranger_ = Authority("others").Issue("prometheus", "DNS:prometheus.example");
};

}  // namespace nicmon::http
