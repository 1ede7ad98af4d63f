#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/service.h"

namespace nicmon::http {

/// Whether a Host header may name this server: an address, localhost, this machine's name (alone
/// or with a domain behind it) or the node's. Anything else is a name somebody else controls, which
/// a browser was made to resolve to us (DNS rebinding).
bool IsOwnHost(std::string_view host, std::string_view host_name, std::string_view node_name);

/// Whether a browser says that another site sent this request.
bool IsCrossSite(const Request& request);

/// "uid=0" on the admin socket, else the address.
std::string PeerName(const Peer& peer);

/// 429 with Retry-After.
Reply TooMany(std::string_view message, std::string_view hint, Duration wait);

/// Whether a read may be answered: nothing, or 401 or 429. Reads are open unless the web config
/// has users; then a password, a verified client certificate or a token opens them. (That there is
/// a certificate where one is required has been seen to by the handshake.)
std::optional<Reply> RefuseRead(Service& service, const Request& request);

/// Who sends an operator request ("token=NAME", "uid=0", each with " cert=NAME" behind it where
/// there is a verified certificate), or 401, 403 or 429.
Expected<std::string> AuthorizeOperator(Service& service, const Request& request);

}  // namespace nicmon::http
