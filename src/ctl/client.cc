#include "ctl/client.h"

#include <httplib.h>

#include "ctl/text.h"

namespace nicmon::ctl {
namespace {

constexpr time_t kConnectSeconds = 5;
// The longest that nicmon itself waits for hardware is 5 s.
constexpr time_t kReadSeconds = 10;
// A stream without news has a comment every 15 s.
constexpr time_t kStreamSeconds = 40;

std::unique_ptr<httplib::ClientImpl> MakeHttp(const Endpoint& endpoint) {
  if (!endpoint.socket.empty()) {
    auto http = std::make_unique<httplib::ClientImpl>(endpoint.socket, 80);
    http->set_address_family(AF_UNIX);
    return http;
  }
  if (!endpoint.tls) {
    return std::make_unique<httplib::ClientImpl>(endpoint.host, endpoint.port);
  }
  auto http = std::make_unique<httplib::SSLClient>(endpoint.host, endpoint.port, endpoint.cert,
                                                   endpoint.key);
  http->enable_server_certificate_verification(!endpoint.insecure);
  if (!endpoint.ca_file.empty()) {
    http->set_ca_cert_path(endpoint.ca_file);
  }
  return http;
}

std::string Encoded(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += (text.empty() ? "" : "&") + PercentEncode(name) + "=" + PercentEncode(value);
  }
  return text;
}

std::string Problem(const Endpoint& endpoint, httplib::Error error, time_t seconds) {
  const std::string who = endpoint.Name();
  switch (error) {
    case httplib::Error::Connection:
      return "cannot connect to " + who +
             (endpoint.socket.empty() ? ": is nicmon running there, and does it listen (--listen)?"
                                      : ": nobody listens there any more");
    case httplib::Error::Success:  // no request without a TLS context
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
      return "no TLS with " + who + ": does it speak TLS" +
             (endpoint.ca_file.empty() ? "" : ", is --ca-file PEM") +
             (endpoint.cert.empty() ? "" : ", do --cert and --key go together") + "?";
    case httplib::Error::SSLServerVerification:
      return "the certificate of " + who +
             " is not trusted: give its authority with --ca-file, and its host as the certificate "
             "has it";
    case httplib::Error::Write:  // the peer ended it before or after it had all of the request
    case httplib::Error::Read:
      if (endpoint.tls) {
        return "no answer from " + who + ": " +
               (endpoint.cert.empty() ? "does it want a certificate of ours (--cert, --key)?"
                                      : "does it accept our certificate? Its log says why not");
      }
      return "no answer from " + who + " in " + std::to_string(seconds) + " s";
    default:
      return "asking " + who + " failed: " + httplib::to_string(error);
  }
}

}  // namespace

Parameters Given(const Invocation& invocation, std::initializer_list<const char*> names) {
  Parameters parameters;
  for (const char* name : names) {
    if (invocation.Has(name)) {
      parameters.emplace_back(name, invocation.Get(name));
    }
  }
  return parameters;
}

class Client::Http {
 public:
  explicit Http(const Endpoint& endpoint) : http(MakeHttp(endpoint)) {
    http->set_connection_timeout(kConnectSeconds);
    http->set_read_timeout(kReadSeconds);
    http->set_url_encode(false);
    http->set_keep_alive(true);
    httplib::Headers headers = {{"Accept", "application/json"}};
    if (!endpoint.socket.empty()) {
      headers.emplace("Host", "localhost");  // else the path
    }
    if (!endpoint.user.empty()) {
      http->set_basic_auth(endpoint.user, endpoint.password);
    }
    if (!endpoint.token.empty()) {
      headers.emplace("Authorization", "Bearer " + endpoint.token);
    }
    http->set_default_headers(headers);
  }
  const std::unique_ptr<httplib::ClientImpl> http;
};

Client::Client(Endpoint endpoint)
    : endpoint_(std::move(endpoint)), http_(std::make_unique<Http>(endpoint_)) {}

Client::~Client() = default;

namespace {

constexpr char kForm[] = "application/x-www-form-urlencoded";

std::string WithQuery(const std::string& path, const Parameters& parameters) {
  const std::string query = Encoded(parameters);
  return query.empty() ? path : path + "?" + query;
}

Answer MakeAnswer(const Endpoint& endpoint, const httplib::Result& result) {
  Answer answer;
  if (!result) {
    answer.problem = Problem(endpoint, result.error(), kReadSeconds);
    return answer;
  }
  answer.status = result->status;
  answer.body = result->body;
  answer.reason = result->get_header_value("X-Nicmon-Reason");
  answer.count = result->get_header_value("X-Nicmon-Count");
  return answer;
}

}  // namespace

Answer Client::Get(const std::string& path, const Parameters& parameters) {
  return MakeAnswer(endpoint_, http_->http->Get(WithQuery(path, parameters)));
}

Answer Client::Post(const std::string& path, const Parameters& parameters) {
  return MakeAnswer(endpoint_, http_->http->Post(path, Encoded(parameters), kForm));
}

Answer Client::Put(const std::string& path, const Parameters& parameters) {
  return MakeAnswer(endpoint_, http_->http->Put(path, Encoded(parameters), kForm));
}

Answer Client::Delete(const std::string& path, const Parameters& parameters) {
  return MakeAnswer(endpoint_, http_->http->Delete(WithQuery(path, parameters)));
}

Answer Client::Stream(const std::string& path,
                      const std::function<bool(std::string_view)>& receive) {
  Answer answer;
  http_->http->set_read_timeout(kStreamSeconds);
  const httplib::Result result = http_->http->Get(
      path,
      [&](const httplib::Response& response) {
        answer.status = response.status;
        return true;
      },
      [&](const char* data, size_t length) {
        if (answer.ok()) {
          return receive({data, length});
        }
        answer.body.append(data, length);
        return true;
      });
  http_->http->set_read_timeout(kReadSeconds);
  if (!result && result.error() != httplib::Error::Canceled) {
    answer.status = 0;
    answer.problem = Problem(endpoint_, result.error(), kStreamSeconds);
  }
  return answer;
}

}  // namespace nicmon::ctl
