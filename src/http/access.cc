#include "http/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <cstring>

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

Reply Unauthorized(std::string_view scheme, std::string_view message, std::string_view hint) {
  Reply reply = ErrorReply(401, "unauthorized", message, hint);
  reply.headers.emplace_back("WWW-Authenticate", std::string(scheme) + " realm=\"nicmon\"");
  return reply;
}

Reply NeedsToken(std::string_view message) {
  return Unauthorized("Bearer", message,
                      "send \"Authorization: Bearer TOKEN\" with a token of the admin token "
                      "file, or use the admin socket");
}

Reply NeedsPassword(std::string_view message) {
  return Unauthorized("Basic", message,
                      "send a user's password (curl -u NAME), a client certificate or a token, or "
                      "use the admin socket");
}

/// What an Authorization header has behind its scheme; nullopt: it is of another one, or missing.
std::optional<std::string_view> Credentials(const Request& request, std::string_view scheme) {
  const std::string* header = request.Header("authorization");
  const size_t blank = header == nullptr ? std::string::npos : header->find(' ');
  if (blank == std::string::npos || Lower(header->substr(0, blank)) != scheme) {
    return std::nullopt;
  }
  return Trim(std::string_view(*header).substr(blank));
}

/// nullopt when it is not valid base64.
std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out(text.size() / 4 * 3, '\0');
  const int length = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
  const size_t padding = text.size() - std::min(text.find('='), text.size());
  if (text.empty() || length != static_cast<int>(out.size()) || padding > 2) {
    return std::nullopt;
  }
  out.resize(out.size() - padding);
  return out;
}

/// Whose wrong credentials are counted together: an address, or a whole /64 of IPv6, which belongs
/// to one host or one network anyway.
std::string Neighbourhood(const Peer& peer) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, peer.address.c_str(), &address) != 1) {
    return PeerName(peer);
  }
  return {reinterpret_cast<const char*>(address.s6_addr), 8};
}

Reply TooManyWrong(Duration wait) {
  return TooMany("too many wrong credentials from this address",
                 "mend whatever sends them; right ones that were in use go on working", wait);
}

/// The reply to wrong credentials: `reply`, until there have been too many.
Reply Wrong(Service& service, const Peer& peer, Reply reply) {
  const auto wait =
      service.wrong_credentials.Take(Neighbourhood(peer), service.backend.clock.steady());
  return wait ? TooManyWrong(*wait) : std::move(reply);
}

std::optional<Reply> RefusePassword(Service& service, const Peer& peer, const Users& users,
                                    std::string_view encoded) {
  const auto decoded = DecodeBase64(encoded);
  const size_t colon = decoded ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) {
    return Wrong(service, peer, NeedsPassword("the basic credentials are not understood"));
  }
  const std::string user = decoded->substr(0, colon);
  const std::string password = decoded->substr(colon + 1);
  auto result = service.passwords.Known(users, user, password);
  if (!result) {
    // Computing one costs something: whoever guesses has to stop for a while.
    const auto wait =
        service.wrong_credentials.Wait(Neighbourhood(peer), service.backend.clock.steady());
    if (wait) {
      return TooManyWrong(*wait);
    }
    result = service.passwords.Check(users, user, password);
  }
  switch (*result) {
    case Passwords::Result::kRight:
      return std::nullopt;
    case Passwords::Result::kBusy:
      return TooMany("many passwords are being checked", "try again", std::chrono::seconds(1));
    case Passwords::Result::kWrong:
      break;
  }
  return Wrong(service, peer, NeedsPassword("user and password do not go together"));
}

std::string WithCertificate(std::string who, const Peer& peer) {
  return peer.certificate.empty() ? who : std::move(who) + " cert=" + peer.certificate;
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

std::string PeerName(const Peer& peer) {
  return peer.admin_socket ? "uid=" + (peer.uid ? std::to_string(*peer.uid) : "?") : peer.address;
}

Reply TooMany(std::string_view message, std::string_view hint, Duration wait) {
  Reply reply = ErrorReply(429, "rate_limited", message, hint);
  const double seconds = std::chrono::duration<double>(wait).count();
  reply.headers.emplace_back("Retry-After",
                             std::to_string(std::max(1L, std::lround(std::ceil(seconds)))));
  return reply;
}

std::optional<Reply> RefuseRead(Service& service, const Request& request) {
  const Peer& peer = request.peer;
  const auto web = service.web == nullptr ? nullptr : service.web->current();
  if (peer.admin_socket || web == nullptr || web->settings.users.empty() ||
      !peer.certificate.empty()) {
    return std::nullopt;
  }
  if (const auto basic = Credentials(request, "basic")) {
    return RefusePassword(service, peer, web->settings.users, *basic);
  }
  if (const auto token = Credentials(request, "bearer")) {
    if (service.tokens != nullptr && service.tokens->Check(*token)) {
      return std::nullopt;
    }
    return Wrong(service, peer, NeedsPassword("the token is not valid"));
  }
  return NeedsPassword("reads need a password, a client certificate or a token here");
}

Expected<std::string> AuthorizeOperator(Service& service, const Request& request) {
  const Peer& peer = request.peer;
  if (peer.admin_socket) {
    return PeerName(peer);
  }
  if (service.tokens == nullptr) {
    return Forbidden("operator_disabled", "operator routes are off over TCP",
                     "use the admin socket (curl --unix-socket PATH http://localhost/...), or "
                     "start with --admin-token-file");
  }
  if (!peer.tls && !peer.loopback && !service.options.admin_allow_plaintext) {
    return Forbidden("plaintext_refused", "operator routes need TLS or a peer on this host",
                     "use the admin socket, localhost or TLS (--web-config-file), or start with "
                     "--admin-allow-plaintext; a token sent so far has crossed the network in the "
                     "clear");
  }
  const auto token = Credentials(request, "bearer");
  if (!token) {
    return NeedsToken("this route needs a bearer token");
  }
  if (const auto name = service.tokens->Check(*token)) {
    return WithCertificate("token=" + *name, peer);
  }
  return Wrong(service, peer, NeedsToken("the token is not valid"));
}

}  // namespace nicmon::http
