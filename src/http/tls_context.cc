#include "http/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string_view>

#include "http/certificate.h"
#include "http/openssl_error.h"

namespace nicmon::http {
namespace {

constexpr unsigned char kAlpn[] = "\x08http/1.1";
constexpr const char* kDefaultCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";  // of TLS 1.2

/// Of what a client offers we take http/1.1, and nothing else; without an offer there is no need.
int SelectAlpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
               const unsigned char* in, unsigned int in_length, void* /*unused*/) {
  unsigned char* chosen = nullptr;
  if (::SSL_select_next_proto(&chosen, out_length, kAlpn, sizeof(kAlpn) - 1, in, in_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

/// There is nobody who could be asked.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*unused*/) {
  return -1;
}

int VerifyMode(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::kNone:
      return SSL_VERIFY_NONE;
    case ClientAuth::kRequest:
    case ClientAuth::kVerifyIfGiven:
      return SSL_VERIFY_PEER;
    case ClientAuth::kRequireAny:
    case ClientAuth::kRequireAndVerify:
      break;
  }
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

}  // namespace

void TlsContext::Free::operator()(SSL_CTX* context) const {
  ::SSL_CTX_free(context);
}

TlsContext::TlsContext(const TlsSettings& settings)
    : client_auth_(settings.client_auth),
      allowed_sans_(settings.client_allowed_sans.begin(), settings.client_allowed_sans.end()),
      context_(::SSL_CTX_new(::TLS_server_method())) {}

TlsContext::~TlsContext() = default;

bool TlsContext::verifies() const {
  return client_auth_ == ClientAuth::kVerifyIfGiven ||
         client_auth_ == ClientAuth::kRequireAndVerify;
}

std::shared_ptr<const TlsContext> TlsContext::Make(const TlsSettings& settings,
                                                   const TlsFiles& files, std::string* error) {
  ::ERR_clear_error();
  const std::shared_ptr<TlsContext> context(new TlsContext(settings));
  if (context->context_ == nullptr) {
    *error = OpensslError("out of memory");
    return nullptr;
  }
  *error = context->SetUp(settings);
  if (std::string why = error->empty() ? context->UseCertificate(files.cert) : ""; !why.empty()) {
    *error = "cert_file " + settings.cert_file + ": " + why;
  }
  if (std::string why = error->empty() ? context->UseKey(files.key) : ""; !why.empty()) {
    *error = "key_file " + settings.key_file + ": " + why;
  }
  const bool has_ca = !settings.client_ca_file.empty();
  if (std::string why = error->empty() && has_ca ? context->UseClientCa(files.client_ca) : "";
      !why.empty()) {
    *error = "client_ca_file " + settings.client_ca_file + ": " + why;
  }
  return error->empty() ? context : nullptr;
}

std::string TlsContext::SetUp(const TlsSettings& settings) {
  SSL_CTX* const context = context_.get();
  // Without sessions there is no ticket key to look after, and who a client is has always been
  // verified on this very connection.
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  ::SSL_CTX_set_num_tickets(context, 0);
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (settings.prefer_server_ciphers) {
    ::SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  }
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  // So that records without data give the word back to us, and to our deadlines.
  ::SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  ::SSL_CTX_set_alpn_select_cb(context, SelectAlpn, nullptr);
  SSL_CTX_set_app_data(context, this);
  ::SSL_CTX_set_verify(context, VerifyMode(client_auth_), Verify);
  const std::string& ciphers = settings.ciphers;
  if (::SSL_CTX_set_min_proto_version(context, settings.min_version) != 1 ||
      ::SSL_CTX_set_max_proto_version(context, settings.max_version) != 1 ||
      ::SSL_CTX_set_cipher_list(context, ciphers.empty() ? kDefaultCiphers : ciphers.c_str()) !=
          1 ||
      (!settings.ciphersuites.empty() &&
       ::SSL_CTX_set_ciphersuites(context, settings.ciphersuites.c_str()) != 1)) {
    return "versions or cipher_suites: " + OpensslError("this OpenSSL does not have them");
  }
  if (!settings.groups.empty() &&
      ::SSL_CTX_set1_groups_list(context, settings.groups.c_str()) != 1) {
    (void)OpensslError("");
    return "curve_preferences: this machine's OpenSSL does not have all of " + settings.groups;
  }
  return "";
}

std::string TlsContext::UseCertificate(const std::string& pem) {
  const auto chain = ReadCertificates(pem);
  if (chain.empty()) {
    return "no PEM certificate in it";
  }
  if (::SSL_CTX_use_certificate(context_.get(), chain.front().get()) != 1) {
    return OpensslError("not usable");
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (::SSL_CTX_add1_chain_cert(context_.get(), chain[i].get()) != 1) {
      return OpensslError("its chain is not usable");
    }
  }
  not_after_ = NotAfter(chain.front().get());
  return "";
}

std::string TlsContext::UseKey(const std::string& pem) {
  const auto bio = MemoryBio(pem);
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      ::PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr), ::EVP_PKEY_free);
  if (key == nullptr) {
    (void)OpensslError("");
    return pem.find("ENCRYPTED") == std::string::npos
               ? "no PEM private key in it"
               : "the key is encrypted: give one without a passphrase";
  }
  if (::SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1 ||
      ::SSL_CTX_check_private_key(context_.get()) != 1) {
    return "does not go with the certificate (" + OpensslError("not usable") + ")";
  }
  return "";
}

std::string TlsContext::UseClientCa(const std::string& pem) {
  const auto authorities = ReadCertificates(pem);
  if (authorities.empty()) {
    return "no PEM certificate in it";
  }
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context_.get());
  ::X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);  // an intermediate one may do
  for (const auto& authority : authorities) {
    if (::X509_STORE_add_cert(store, authority.get()) != 1 ||
        ::SSL_CTX_add_client_CA(context_.get(), authority.get()) != 1) {
      return OpensslError("not usable");
    }
  }
  return "";
}

int TlsContext::Verify(int preverified, X509_STORE_CTX* store) {
  const auto* const ssl = static_cast<const SSL*>(
      ::X509_STORE_CTX_get_ex_data(store, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto& self = *static_cast<const TlsContext*>(SSL_CTX_get_app_data(::SSL_get_SSL_CTX(ssl)));
  if (!self.verifies()) {
    return 1;  // asked for, but nothing is made of it
  }
  const bool leaf = ::X509_STORE_CTX_get_error_depth(store) == 0;
  if (preverified == 1 && leaf && !self.allowed_sans_.empty()) {
    for (const std::string& name : AlternativeNames(::X509_STORE_CTX_get_current_cert(store))) {
      if (self.allowed_sans_.count(name) != 0) {
        return 1;
      }
    }
    ::X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }
  return preverified;
}

std::string TlsContext::ClientName(SSL* ssl) const {
  const std::unique_ptr<X509, decltype(&::X509_free)> certificate(::SSL_get1_peer_certificate(ssl),
                                                                  ::X509_free);
  if (!verifies() || certificate == nullptr || ::SSL_get_verify_result(ssl) != X509_V_OK) {
    return "";
  }
  return CertificateName(certificate.get(), allowed_sans_);
}

std::string TlsContext::VerifyText(long result) const {
  return result == X509_V_ERR_APPLICATION_VERIFICATION
             ? "none of its names is in client_allowed_sans"
             : ::X509_verify_cert_error_string(result);
}

}  // namespace nicmon::http
