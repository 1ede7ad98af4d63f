#pragma once

#include <string_view>

#include "http/message.h"

namespace nicmon::http {

/// HTML, style and script in one, joined from src/http/page by the build.
extern const std::string_view kStatusPage;

/// The page at `/`. It is the same for everybody and has no data in it: its script reads the API.
Reply StatusPage(const Request& request);

}  // namespace nicmon::http
