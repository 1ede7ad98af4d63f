#include "http/http_test.h"

#include <zlib.h>

#include <csignal>

namespace nicmon::http {

std::string Unpack(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(size_t{1} << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  ::inflateEnd(&stream);
  return text;
}

HttpTest::HttpTest() {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does: OpenSSL writes with write()
  options_.listen_host = "127.0.0.1";
  options_.listen_port = 0;
  options_.admin_socket = directory_.Path("admin.sock").string();
  options_.admin_socket_required = true;
}

HttpTest::~HttpTest() {
  if (server_ != nullptr) {
    EXPECT_TRUE(server_->Stop(std::chrono::seconds(10)));
  }
  server_.reset();
}

void HttpTest::Start() {
  server_ = std::make_unique<HttpServer>(options_, node_.MakeBackend(), stats_);
  tcp_ = server_->tcp_address();
  admin_ = server_->admin_socket();
  server_->Start();
}

RawReply HttpTest::Send(const std::string& target, const std::string& method_and_path,
                        const std::string& headers, const std::string& body) {
  auto reply = Ask(target, method_and_path, headers, body);
  EXPECT_TRUE(reply.has_value()) << method_and_path;
  return reply.value_or(RawReply{});
}

RawReply HttpTest::Get(const std::string& path, const std::string& headers) {
  return Send(tcp_, "GET " + path, headers);
}

RawReply HttpTest::Post(const std::string& path, const std::string& form) {
  return Send(admin_, "POST " + path,
              form.empty() ? "" : "Content-Type: application/x-www-form-urlencoded\r\n", form);
}

std::string HttpTest::WriteFile(const std::string& name, const std::string& text) {
  directory_.File(name, text);
  return directory_.Path(name).string();
}

std::string HttpTest::WriteWebConfig(const Authority& authority, const std::string& more,
                                     const std::string& rest, const std::string& name) {
  const Issued own = authority.Issue(name, "DNS:localhost,IP:127.0.0.1");
  WriteFile("server.pem", own.cert);
  WriteFile("server.key", own.key);
  WriteFile("ca.pem", authority.pem());
  return WriteFile(
      "web.yml",
      "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n" + more + rest);
}

}  // namespace nicmon::http
