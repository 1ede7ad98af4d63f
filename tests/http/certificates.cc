#include "http/certificates.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <functional>

namespace nicmon::http {
namespace {

std::string Pem(const std::function<int(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(::BIO_new(::BIO_s_mem()), ::BIO_free);
  EXPECT_EQ(write(bio.get()), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

void SetName(X509_NAME* name, const std::string& common_name) {
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                               0);
}

void Extend(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  ::X509_add_ext(certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
}

std::string KeyPem(EVP_PKEY* key) {
  return Pem([&](BIO* bio) {
    return ::PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace

Authority::Authority(const std::string& name) : name_(name), key_(::EVP_EC_gen("P-256")) {
  own_ = Sign(name, "", 3600, key_, true);
}

Authority::~Authority() {
  ::EVP_PKEY_free(key_);
}

Issued Authority::Issue(const std::string& common_name, const std::string& sans,
                        long seconds) const {
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(::EVP_EC_gen("P-256"),
                                                                  ::EVP_PKEY_free);
  return Sign(common_name, sans, seconds, key.get(), false);
}

Issued Authority::Sign(const std::string& common_name, const std::string& sans, long seconds,
                       EVP_PKEY* key, bool authority) const {
  static std::atomic<long> serial{1};
  const std::unique_ptr<X509, decltype(&::X509_free)> certificate(::X509_new(), ::X509_free);
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), serial++);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -60);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), seconds);
  ::X509_set_pubkey(certificate.get(), key);
  SetName(::X509_get_subject_name(certificate.get()), common_name);
  SetName(::X509_get_issuer_name(certificate.get()), name_);
  Extend(certificate.get(), NID_basic_constraints, authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!sans.empty()) {
    Extend(certificate.get(), NID_subject_alt_name, sans);
  }
  EXPECT_GT(::X509_sign(certificate.get(), key_, ::EVP_sha256()), 0);
  return {Pem([&](BIO* bio) { return ::PEM_write_bio_X509(bio, certificate.get()); }), KeyPem(key)};
}

}  // namespace nicmon::http
