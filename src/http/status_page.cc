#include "http/status_page.h"

#include <openssl/evp.h>

#include <array>

#include "http/gzip.h"
#include "http/text.h"

namespace nicmon::http {
namespace {

using Digest = std::array<unsigned char, 32>;

Digest Sha256(std::string_view text) {
  Digest digest{};
  unsigned int length = 0;
  ::EVP_Digest(text.data(), text.size(), digest.data(), &length, ::EVP_sha256(), nullptr);
  return digest;
}

/// What is between <tag> and </tag>.
std::string_view Element(std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const size_t begin = kStatusPage.find(open) + open.size();
  return kStatusPage.substr(begin, kStatusPage.find("</" + std::string(tag) + ">") - begin);
}

/// Lets in that element of the page and nothing else.
std::string Source(std::string_view tag) {
  const Digest digest = Sha256(Element(tag));
  std::array<unsigned char, 4 * ((sizeof(Digest) + 2) / 3) + 1> base64{};
  ::EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return std::string(tag) + "-src 'sha256-" + reinterpret_cast<const char*>(base64.data()) + "'; ";
}

/// img-src is for the icon, which the script draws as the node is.
std::string Policy() {
  return "default-src 'none'; " + Source("script") + Source("style") +
         "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
}

/// Changes with the page; 128 bits are enough for that.
std::string Tag() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const Digest digest = Sha256(kStatusPage);
  std::string tag;
  for (size_t i = 0; i < 16; ++i) {
    tag += {kDigits[digest[i] >> 4], kDigits[digest[i] & 15]};
  }
  return "\"" + tag + "\"";
}

/// What does not change between requests.
struct Page {
  std::string policy = Policy();
  std::string tag = Tag();
  std::optional<std::string> packed = Gzip(kStatusPage);
};

/// Whether If-None-Match has the tag, weak or not, or says that any will do.
bool Knows(std::string_view if_none_match, const std::string& tag) {
  return HasListToken(if_none_match, tag) || HasListToken(if_none_match, "w/" + tag) ||
         HasListToken(if_none_match, "*");
}

}  // namespace

Reply StatusPage(const Request& request) {
  static const Page page;
  Reply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.headers = {{"Content-Security-Policy", page.policy},
                   {"Referrer-Policy", "no-referrer"},
                   {"Cache-Control", "no-cache"},  // kept, but asked for again each time
                   {"ETag", "W/" + page.tag},      // weak: the packed form has the same
                   {"Vary", "Accept-Encoding"}};
  const std::string* known = request.Header("if-none-match");
  if (known != nullptr && Knows(*known, page.tag)) {
    reply.status = 304;
    return reply;
  }
  const std::string* accept = request.Header("accept-encoding");
  if (page.packed && accept != nullptr && AcceptsGzip(*accept)) {
    reply.headers.emplace_back("Content-Encoding", "gzip");
    reply.body = *page.packed;
  } else {
    reply.body = kStatusPage;
  }
  return reply;
}

}  // namespace nicmon::http
