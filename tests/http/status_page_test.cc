// Headers of the page at `/`; what it shows is tests/browser's.
#include <openssl/evp.h>

#include <array>

#include "http/http_test.h"

namespace nicmon::http {
namespace {

using StatusPageTest = HttpTest;

/// What a browser hashes of an element to compare it with the policy.
std::string HashSource(const std::string& page, const std::string& tag) {
  const size_t begin = page.find("<" + tag + ">") + tag.size() + 2;
  const size_t end = page.find("</" + tag + ">");
  std::array<unsigned char, 32> digest{};
  ::EVP_Digest(page.data() + begin, end - begin, digest.data(), nullptr, ::EVP_sha256(), nullptr);
  std::array<unsigned char, 64> base64{};
  ::EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return tag + "-src 'sha256-" + reinterpret_cast<const char*>(base64.data()) + "';";
}

TEST_F(StatusPageTest, RunsItsOwnScriptAndNothingElse) {
  Start();
  const RawReply page = Get("/");
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  const std::string& policy = page.headers.at("content-security-policy");
  EXPECT_EQ(policy.rfind("default-src 'none'; ", 0), 0U);
  for (const char* part : {"connect-src 'self';", "frame-ancestors 'none';", "base-uri 'none';",
                           "form-action 'none';", "require-trusted-types-for 'script';"}) {
    EXPECT_NE(policy.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_NE(policy.find(HashSource(page.body, "script")), std::string::npos);
  EXPECT_NE(policy.find(HashSource(page.body, "style")), std::string::npos);
  EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(page.headers.at("referrer-policy"), "no-referrer");
  for (const char* tag : {"<script", "<style"}) {
    EXPECT_EQ(page.body.find(tag), page.body.rfind(tag)) << "one " << tag;
  }
  EXPECT_NE(page.body.find("<noscript>"), std::string::npos);
}

TEST_F(StatusPageTest, IsSentOnce) {
  Start();
  const RawReply page = Get("/");
  EXPECT_EQ(page.headers.at("cache-control"), "no-cache");
  const std::string tag = page.headers.at("etag");
  for (const std::string& known : {tag, tag.substr(2), "\"x\", " + tag, std::string("*")}) {
    const RawReply reply = Get("/", "If-None-Match: " + known + "\r\n");
    EXPECT_EQ(reply.status, 304) << known;
    EXPECT_TRUE(reply.body.empty());
    EXPECT_EQ(reply.headers.at("etag"), tag);
    EXPECT_EQ(reply.headers.at("cache-control"), "no-cache");
    EXPECT_EQ(reply.headers.count("content-length"), 0U) << "0 is not the page's";
  }
  EXPECT_EQ(Get("/", "If-None-Match: W/\"00\"\r\n").status, 200);

  const RawReply head = Send(tcp(), "HEAD /");
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(page.body.size()));
  EXPECT_EQ(head.headers.at("etag"), tag);
  const RawReply packed = Get("/", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(packed.headers.at("vary"), "Accept-Encoding");
  EXPECT_TRUE(Unpack(packed.body) == page.body);
  EXPECT_LT(packed.body.size(), page.body.size() / 2);
}

}  // namespace
}  // namespace nicmon::http
