#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "http/fake_node.h"
#include "http/raw_client.h"
#include "nicmon/http/server.h"
#include "testing/temp_tree.h"

namespace nicmon::http {

/// Of "right", at the least cost that bcrypt has.
inline const std::string kPasswordHash =
    "$2b$04$r23obX5hmfO1v8fGP1vOjOYo6ybUXTejKH4BAPNmAX5a7IOx1/6U.";

/// What a gzip member has in it.
std::string Unpack(const std::string& packed);

/// A server on a free port and a socket in a directory of its own, over a FakeNode.
class HttpTest : public ::testing::Test {
 protected:
  HttpTest();
  ~HttpTest() override;

  /// Starts with `options` as they are by now.
  void Start();
  RawReply Get(const std::string& path, const std::string& headers = "");
  /// Over the admin socket, with a form body.
  RawReply Post(const std::string& path, const std::string& form = "");
  RawReply Send(const std::string& target, const std::string& method_and_path,
                const std::string& headers = "", const std::string& body = "");
  const std::string& tcp() const { return tcp_; }
  const std::string& admin() const { return admin_; }
  std::string WriteFile(const std::string& name, const std::string& text);
  /// A web config with a certificate of `authority` for "localhost"; `more` below
  /// tls_server_config, `rest` beside it. The path.
  std::string WriteWebConfig(const Authority& authority, const std::string& more = "",
                             const std::string& rest = "", const std::string& name = "localhost");

  nicmon::testing::TempTree directory_;
  FakeNode node_;
  HttpOptions options_;
  std::shared_ptr<HttpStats> stats_ = std::make_shared<HttpStats>();
  std::unique_ptr<HttpServer> server_;

 private:
  std::string tcp_, admin_;
};

}  // namespace nicmon::http
