#pragma once

#include <openssl/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nicmon/base/clock.h"

namespace nicmon::http {

struct FreeOpenssl {
  void operator()(X509* certificate) const;
  void operator()(BIO* bio) const;
};

/// Reads from `text`, which must outlive it.
std::unique_ptr<BIO, FreeOpenssl> MemoryBio(const std::string& text);

/// All certificates of a PEM text, in order; empty when there is none or one is broken.
std::vector<std::unique_ptr<X509, FreeOpenssl>> ReadCertificates(const std::string& pem);

/// Subject alternative names as plain text: DNS names, URIs, mail and IP addresses, in this order.
/// Those with control characters in them are left out: they are nobody's.
std::vector<std::string> AlternativeNames(const X509* certificate);

/// One name for logs: the first alternative name that is in `preferred` (when that is not empty),
/// else the first of all, else the common name, else the serial number. At most 253 bytes of UTF-8
/// without control characters; never empty.
std::string CertificateName(const X509* certificate, const std::set<std::string>& preferred);

WallTime NotAfter(const X509* certificate);

}  // namespace nicmon::http
