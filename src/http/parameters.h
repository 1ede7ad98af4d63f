#pragma once

#include <map>
#include <string>

#include "http/message.h"
#include "http/route_table.h"

namespace nicmon::http {

/// Query and body together, by name; a name may come once, and the route has to accept it. 400
/// says what is wrong with the first that cannot be taken.
Expected<std::map<std::string, std::string>> Parameters(const Route& route, const Request& request);

}  // namespace nicmon::http
