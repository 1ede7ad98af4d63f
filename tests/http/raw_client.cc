#include "http/raw_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace nicmon::http {
namespace {

using Clock = std::chrono::steady_clock;

UniqueFd ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return {};
  }
  return fd;
}

UniqueFd ConnectTcp(const std::string& target) {
  const size_t colon = target.rfind(':');
  const std::string host = target.substr(0, colon);
  const bool v6 = host.front() == '[' && host != "[::]";
  const auto port = htons(static_cast<uint16_t>(std::stoi(target.substr(colon + 1))));
  UniqueFd fd(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address6{};
  address6.sin6_family = AF_INET6;
  address6.sin6_port = port;
  address6.sin6_addr = in6addr_loopback;
  sockaddr_in address4{};
  address4.sin_family = AF_INET;
  address4.sin_port = port;
  address4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* address = v6 ? reinterpret_cast<const sockaddr*>(&address6)
                           : reinterpret_cast<const sockaddr*>(&address4);
  if (::connect(fd.get(), address, v6 ? sizeof(address6) : sizeof(address4)) != 0) {
    return {};
  }
  return fd;
}

}  // namespace

RawClient::RawClient(const std::string& target)
    : fd_(target.front() == '/' ? ConnectUnix(target) : ConnectTcp(target)) {
  EXPECT_TRUE(connected()) << target << ": " << std::strerror(errno);
}

void RawClient::FreeSsl::operator()(ssl_st* ssl) const {
  ::SSL_free(ssl);
}

RawClient::RawClient(const std::string& target, const ClientTls& tls) : RawClient(target) {
  SSL_CTX* context = ::SSL_CTX_new(::TLS_client_method());
  const auto bio = [](const std::string& pem) {
    return std::unique_ptr<BIO, decltype(&::BIO_free)>(
        ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free);
  };
  if (!tls.ca.empty()) {
    X509* authority = ::PEM_read_bio_X509(bio(tls.ca).get(), nullptr, nullptr, nullptr);
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context), authority);
    ::X509_free(authority);
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (!tls.own.cert.empty()) {
    X509* certificate = ::PEM_read_bio_X509(bio(tls.own.cert).get(), nullptr, nullptr, nullptr);
    EVP_PKEY* key = ::PEM_read_bio_PrivateKey(bio(tls.own.key).get(), nullptr, nullptr, nullptr);
    EXPECT_EQ(::SSL_CTX_use_certificate(context, certificate), 1);
    EXPECT_EQ(::SSL_CTX_use_PrivateKey(context, key), 1);
    ::X509_free(certificate);
    ::EVP_PKEY_free(key);
  }
  ::SSL_CTX_set_max_proto_version(context, tls.max_version);
  if (!tls.ciphers.empty()) {
    EXPECT_EQ(::SSL_CTX_set_cipher_list(context, tls.ciphers.c_str()), 1);
  }
  ssl_.reset(::SSL_new(context));
  ::SSL_CTX_free(context);
  ::SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(tls.alpn.data()),
                        static_cast<unsigned>(tls.alpn.size()));
  ::SSL_set_fd(ssl_.get(), fd_.get());
  secure_ = connected() && ::SSL_connect(ssl_.get()) == 1;
}

std::string RawClient::ServerName() const {
  const std::unique_ptr<X509, decltype(&::X509_free)> certificate(
      ::SSL_get1_peer_certificate(ssl_.get()), ::X509_free);
  std::array<char, 256> name{};
  ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate.get()), NID_commonName,
                              name.data(), static_cast<int>(name.size()));
  return name.data();
}

bool RawClient::Send(const std::string& bytes) {
  if (ssl_ != nullptr) {
    return ::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      return false;
    }
    sent += static_cast<size_t>(n);
  }
  return true;
}

void RawClient::EndSending() {
  ::shutdown(fd_.get(), SHUT_WR);
}

bool RawClient::Fill(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd entry{fd_.get(), POLLIN, 0};
  const bool buffered = ssl_ != nullptr && ::SSL_pending(ssl_.get()) > 0;
  if (left.count() <= 0 || (!buffered && ::poll(&entry, 1, static_cast<int>(left.count())) <= 0)) {
    return false;
  }
  std::array<char, 65536> chunk;
  const ssize_t n = ssl_ != nullptr
                        ? ::SSL_read(ssl_.get(), chunk.data(), static_cast<int>(chunk.size()))
                        : ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
  if (n <= 0) {
    closed_ = true;
    return false;
  }
  buffer_.append(chunk.data(), static_cast<size_t>(n));
  return true;
}

std::optional<RawReply> RawClient::Receive(bool head, Seconds timeout) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill(deadline)) {
      return std::nullopt;
    }
  }
  RawReply reply;
  reply.status = std::stoi(buffer_.substr(9, 3));
  for (size_t at = buffer_.find("\r\n") + 2; at < end + 2;) {
    const size_t line_end = buffer_.find("\r\n", at);
    const size_t colon = buffer_.find(':', at);
    std::string name = buffer_.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(reply.headers.count(name), 0U) << name << " is repeated";
    reply.headers[name] = buffer_.substr(colon + 2, line_end - colon - 2);
    at = line_end + 2;
  }
  buffer_.erase(0, end + 4);
  if (head || reply.status == 100 || reply.status == 304) {
    return reply;
  }
  EXPECT_EQ(reply.headers.count("content-length"), 1U);
  const size_t length = std::stoul(reply.headers["content-length"]);
  while (buffer_.size() < length) {
    if (!Fill(deadline)) {
      return std::nullopt;
    }
  }
  reply.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return reply;
}

bool RawClient::ReceiveSome(std::string* out, Seconds timeout) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  if (buffer_.empty() && !Fill(deadline)) {
    return false;
  }
  *out += buffer_;
  buffer_.clear();
  return true;
}

bool RawClient::WaitClosed(Seconds timeout) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  while (Fill(deadline)) {
    buffer_.clear();
  }
  return closed_;
}

std::optional<RawReply> Ask(RawClient& client, const std::string& method_and_path,
                            const std::string& headers, const std::string& body) {
  const bool has_length = headers.find("Content-Length") != std::string::npos;
  client.Send(method_and_path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
              (body.empty() || has_length
                   ? ""
                   : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
              "\r\n" + body);
  return client.Receive(method_and_path.rfind("HEAD ", 0) == 0);
}

std::optional<RawReply> Ask(const std::string& target, const std::string& method_and_path,
                            const std::string& headers, const std::string& body) {
  RawClient client(target);
  return Ask(client, method_and_path, headers, body);
}

}  // namespace nicmon::http
