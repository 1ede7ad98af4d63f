#include "http/http_test.h"

namespace nicmon::http {

HttpTest::HttpTest() {
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

}  // namespace nicmon::http
