#include "http/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "http/text.h"

namespace nicmon::http {
namespace {

/// "[::1]:80" → "::1", "host:80" → "host", lower-case, without a trailing dot.
std::string HostOnly(std::string_view host, bool* bracketed) {
  *bracketed = !host.empty() && host.front() == '[';
  if (*bracketed) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? "" : std::string(host.substr(1, end - 1));
  }
  host = host.substr(0, host.find(':'));
  if (!host.empty() && host.back() == '.') {
    host.remove_suffix(1);
  }
  return Lower(host);
}

bool IsAddress(const std::string& host, bool bracketed) {
  in6_addr address{};
  return ::inet_pton(bracketed ? AF_INET6 : AF_INET, host.c_str(), &address) == 1;
}

/// `host` is the first label of `name`, or that label with a domain behind it.
bool NamesMachine(const std::string& host, std::string_view name) {
  const std::string label = Lower(name.substr(0, name.find('.')));
  if (label.empty() || label == "localhost") {
    return false;
  }
  return host == label || host.compare(0, label.size() + 1, label + ".") == 0;
}

Reply Forbidden(std::string_view code, std::string_view message, std::string_view hint) {
  return ErrorReply(403, code, message, hint);
}

Reply Unauthorized(std::string_view message) {
  Reply reply = ErrorReply(401, "unauthorized", message,
                           "send \"Authorization: Bearer TOKEN\" with a token of the admin token "
                           "file, or use the admin socket");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"nicmon\"");
  return reply;
}

}  // namespace

bool IsOwnHost(std::string_view host, std::string_view host_name, std::string_view node_name) {
  bool bracketed = false;
  const std::string name = HostOnly(host, &bracketed);
  return IsAddress(name, bracketed) ||
         (!bracketed &&
          (name == "localhost" || NamesMachine(name, host_name) || NamesMachine(name, node_name)));
}

bool IsCrossSite(const Request& request) {
  const std::string* site = request.Header("sec-fetch-site");
  if (site != nullptr && Lower(*site) != "same-origin") {
    return true;
  }
  const std::string* origin = request.Header("origin");
  if (origin == nullptr) {
    return false;
  }
  const std::string* host = request.Header("host");
  const size_t scheme = origin->find("://");
  return host == nullptr || scheme == std::string::npos ||
         Lower(std::string_view(*origin).substr(scheme + 3)) != Lower(*host);
}

Expected<std::string> AuthorizeOperator(Service& service, const Request& request) {
  const Peer& peer = request.peer;
  if (peer.admin_socket) {
    return peer.uid ? "uid=" + std::to_string(*peer.uid) : std::string("uid=?");
  }
  if (service.tokens == nullptr) {
    return Forbidden("operator_disabled", "operator routes are off over TCP",
                     "use the admin socket (curl --unix-socket PATH http://localhost/...), or "
                     "start with --admin-token-file");
  }
  if (!peer.loopback && !service.options.admin_allow_plaintext) {
    return Forbidden("plaintext_refused", "operator routes need TLS or a peer on this host",
                     "use the admin socket or localhost, or start with --admin-allow-plaintext; "
                     "a token sent so far has crossed the network in the clear");
  }
  const std::string* header = request.Header("authorization");
  if (header == nullptr) {
    return Unauthorized("this route needs a bearer token");
  }
  const size_t blank = header->find(' ');
  if (blank == std::string::npos || Lower(header->substr(0, blank)) != "bearer") {
    return Unauthorized("this route needs a bearer token");
  }
  auto name = service.tokens->Check(Trim(std::string_view(*header).substr(blank)));
  return name ? Expected<std::string>("token=" + *name)
              : Expected<std::string>(Unauthorized("the token is not valid"));
}

}  // namespace nicmon::http
