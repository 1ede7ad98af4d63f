#include "nicmon/http/server.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "http/listener.h"
#include "http/listening_socket.h"
#include "http/service.h"
#include "nicmon/base/log.h"

namespace nicmon {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  // One byte less, so that a name that is cut off still ends.
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

/// The path that was given, else one below $XDG_RUNTIME_DIR, else none; says which with one
/// warning.
http::AdminSocket OpenAdminSocket(const HttpOptions& options) {
  if (options.admin_socket.empty()) {
    return {};
  }
  std::string why;
  try {
    return http::AdminSocket::Listen(options.admin_socket, options.admin_socket_group);
  } catch (const http::UnusablePath& error) {
    if (options.admin_socket_required) {
      throw;
    }
    why = error.what();
  }
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') {
    const std::string path = std::string(runtime) + "/nicmon/admin.sock";
    try {
      auto socket = http::AdminSocket::Listen(path, options.admin_socket_group);
      log::Warning("admin socket replaced", {{"path", path}, {"why", why}});
      return socket;
    } catch (const http::UnusablePath& error) {
      why += "; " + std::string(error.what());
    }
  }
  log::Warning(
      "no admin socket: give a path where this user may write with --admin-socket, or none",
      {{"why", why}});
  return {};
}

std::unique_ptr<http::TokenFile> OpenTokens(const HttpOptions& options, const Clock& clock) {
  return options.admin_token_file.empty()
             ? nullptr
             : std::make_unique<http::TokenFile>(options.admin_token_file, clock);
}

std::unique_ptr<http::WebConfigFile> OpenWebConfig(const HttpOptions& options, const Clock& clock,
                                                   bool loopback) {
  const bool crosses_network = !loopback && !options.admin_allow_plaintext;
  return options.web_config_file.empty() ? nullptr
                                         : std::make_unique<http::WebConfigFile>(
                                               options.web_config_file, clock, crosses_network);
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpOptions options, Backend backend, std::shared_ptr<HttpStats> stats)
      : service_(std::make_shared<http::Service>(std::move(options))) {
    service_->backend = std::move(backend);
    service_->stats = std::move(stats);
    service_->host_name = HostName();
    const HttpOptions& given = service_->options;
    service_->tokens = OpenTokens(given, service_->backend.clock);
    tcp_ = http::ListenTcp(given.listen_host, given.listen_port, given.fall_back_to_ipv4);
    service_->web = OpenWebConfig(given, service_->backend.clock, tcp_.loopback);
    admin_ = OpenAdminSocket(given);
    service_->about = {service_->backend.version, static_cast<bool>(service_->backend.simulate),
                       admin_.path()};
    service_->stream = std::make_shared<http::StreamHub>(given.stream, service_->backend.view,
                                                         service_->about, service_->stats);
    tcp_listener_ = MakeListener(tcp_.fd.get(), false);
    service_->end_connections = [listener = std::weak_ptr(tcp_listener_)](uint64_t except) {
      if (const auto tcp = listener.lock()) {
        tcp->EndOthers(except);
      }
    };
    if (admin_.fd() >= 0) {
      admin_listener_ = MakeListener(admin_.fd(), true);
    }
  }

  ~Impl() { Stop(Duration(0)); }

  void Start() {
    tcp_listener_->Start();
    if (admin_listener_ != nullptr) {
      admin_listener_->Start();
    }
  }

  void Close() {
    service_->stopping = true;
    tcp_listener_->Stop();
    if (admin_listener_ != nullptr) {
      admin_listener_->Stop();
    }
    service_->stream->Stop();
    tcp_.fd.reset();
    admin_.Close();
  }

  bool Stop(Duration timeout) {
    Close();
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    const bool tcp_empty = tcp_listener_->WaitEmpty(timeout);
    const auto left = std::max<Duration>(deadline - std::chrono::steady_clock::now(), Duration(0));
    return (admin_listener_ == nullptr || admin_listener_->WaitEmpty(left)) && tcp_empty;
  }

  void Reload() {
    const bool tokens =
        service_->tokens != nullptr && service_->tokens->Reload() == http::Reread::kTaken;
    const bool web = service_->web != nullptr && service_->web->Reload() == http::Reread::kTaken;
    if (tokens || web) {
      service_->end_connections(0);
    }
  }
  bool config_reload_ok() const {
    return (service_->tokens == nullptr || service_->tokens->ok()) &&
           (service_->web == nullptr || service_->web->ok());
  }
  const std::shared_ptr<http::StreamHub>& stream() const { return service_->stream; }
  const std::string& tcp_address() const { return tcp_.address; }
  const std::string& admin_socket() const { return admin_.path(); }

 private:
  std::shared_ptr<http::Listener> MakeListener(int fd, bool admin) {
    const HttpOptions& options = service_->options;
    const http::ConnectionLimits limits{options.request_timeout, options.idle_timeout,
                                        options.write_timeout};
    // The handler owns the service: a connection that outlives the server finds it alive.
    return std::make_shared<http::Listener>(
        fd, admin, static_cast<size_t>(options.max_connections), limits,
        [service = service_](const http::Request& request) {
          return http::Dispatch(*service, request);
        },
        admin ? http::ConnectionShared::Tls() : TlsInForce(), service_->stats);
  }

  http::ConnectionShared::Tls TlsInForce() const {
    if (service_->web == nullptr) {
      return {};
    }
    return [service = service_](uint64_t id) {
      http::LookForChanges(*service, id);
      return service->web->current()->tls;
    };
  }

  const std::shared_ptr<http::Service> service_;
  http::TcpSocket tcp_;
  http::AdminSocket admin_;
  std::shared_ptr<http::Listener> tcp_listener_, admin_listener_;
};

HttpServer::HttpServer(HttpOptions options, Backend backend, std::shared_ptr<HttpStats> stats)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(backend), std::move(stats))) {}

HttpServer::~HttpServer() = default;

void HttpServer::Start() {
  impl_->Start();
}
void HttpServer::Close() {
  impl_->Close();
}
bool HttpServer::Stop(Duration timeout) {
  return impl_->Stop(timeout);
}
void HttpServer::Reload() {
  impl_->Reload();
}
bool HttpServer::config_reload_ok() const {
  return impl_->config_reload_ok();
}
std::function<void(std::span<const Transition>)> HttpServer::stream_listener() const {
  return [hub = impl_->stream()](std::span<const Transition> events) { hub->OnRecords(events); };
}
std::string HttpServer::tcp_address() const {
  return impl_->tcp_address();
}
std::string HttpServer::admin_socket() const {
  return impl_->admin_socket();
}

std::string TokenFileProblem(const std::string& path) {
  return http::TokenFile::Problem(path);
}
std::string WebConfigProblem(const std::string& path) {
  return http::WebConfigFile::Problem(path);
}

}  // namespace nicmon
