#pragma once

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

/// Who sends an operator request, or 401 or 403.
Expected<std::string> AuthorizeOperator(Service& service, const Request& request);

}  // namespace nicmon::http
