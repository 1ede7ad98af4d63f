#include "http/certificate.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <string_view>

#include "nicmon/base/text.h"

namespace nicmon::http {
namespace {

constexpr size_t kMaxName = 253;

std::string Text(const ASN1_STRING* value) {
  return {reinterpret_cast<const char*>(::ASN1_STRING_get0_data(value)),
          static_cast<size_t>(::ASN1_STRING_length(value))};
}

std::string AddressText(const ASN1_OCTET_STRING* value) {
  const int length = ::ASN1_STRING_length(value);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (length != 4 && length != 16) {
    return "";
  }
  ::inet_ntop(length == 4 ? AF_INET : AF_INET6, ::ASN1_STRING_get0_data(value), text.data(),
              text.size());
  return text.data();
}

std::string NameOfType(const GENERAL_NAME* name, int type) {
  if (name->type != type) {
    return "";
  }
  switch (type) {
    case GEN_DNS:
      return Text(name->d.dNSName);
    case GEN_URI:
      return Text(name->d.uniformResourceIdentifier);
    case GEN_EMAIL:
      return Text(name->d.rfc822Name);
    default:
      return AddressText(name->d.iPAddress);
  }
}

/// "" for what is no name to be shown.
std::string Clean(const std::string& name) {
  return name.size() <= kMaxName && IsPlainLine(name) ? name : "";
}

std::string CommonName(const X509* certificate) {
  const X509_NAME* subject = ::X509_get_subject_name(certificate);
  const int at = ::X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) {
    return "";
  }
  unsigned char* utf8 = nullptr;
  const int length =
      ::ASN1_STRING_to_UTF8(&utf8, ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, at)));
  if (length < 0) {
    return "";
  }
  const std::string name(reinterpret_cast<const char*>(utf8), static_cast<size_t>(length));
  ::OPENSSL_free(utf8);
  return Clean(name);
}

std::string Serial(const X509* certificate) {
  const ASN1_INTEGER* serial = ::X509_get0_serialNumber(certificate);
  std::string text = "serial:";
  for (int i = 0; i < std::min(::ASN1_STRING_length(serial), 20); ++i) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const unsigned char byte = ::ASN1_STRING_get0_data(serial)[i];
    text += {kHex[byte >> 4], kHex[byte & 15]};
  }
  return text;
}

}  // namespace

void FreeOpenssl::operator()(X509* certificate) const {
  ::X509_free(certificate);
}
void FreeOpenssl::operator()(BIO* bio) const {
  ::BIO_free(bio);
}

std::unique_ptr<BIO, FreeOpenssl> MemoryBio(const std::string& text) {
  return std::unique_ptr<BIO, FreeOpenssl>(
      ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<std::unique_ptr<X509, FreeOpenssl>> ReadCertificates(const std::string& pem) {
  std::vector<std::unique_ptr<X509, FreeOpenssl>> certificates;
  const auto bio = MemoryBio(pem);
  while (X509* one = ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(one);
  }
  // The end of the text is an error of that name; any other one is a broken certificate.
  const unsigned long error = ::ERR_peek_last_error();
  ::ERR_clear_error();
  if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    certificates.clear();
  }
  return certificates;
}

std::vector<std::string> AlternativeNames(const X509* certificate) {
  std::vector<std::string> out;
  const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          ::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      ::GENERAL_NAMES_free);
  for (const int type : {GEN_DNS, GEN_URI, GEN_EMAIL, GEN_IPADD}) {
    for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
      std::string name = Clean(NameOfType(sk_GENERAL_NAME_value(names.get(), i), type));
      if (!name.empty()) {
        out.push_back(std::move(name));
      }
    }
  }
  return out;
}

std::string CertificateName(const X509* certificate, const std::set<std::string>& preferred) {
  const std::vector<std::string> names = AlternativeNames(certificate);
  for (const std::string& name : names) {
    if (preferred.count(name) != 0) {
      return name;
    }
  }
  const std::string name = names.empty() ? CommonName(certificate) : names.front();
  return name.empty() ? Serial(certificate) : name;
}

WallTime NotAfter(const X509* certificate) {
  std::tm end{};
  ::ASN1_TIME_to_tm(::X509_get0_notAfter(certificate), &end);
  return std::chrono::time_point_cast<WallTime::duration>(
      std::chrono::system_clock::from_time_t(::timegm(&end)));
}

}  // namespace nicmon::http
