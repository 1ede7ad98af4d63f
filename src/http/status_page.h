#pragma once

#include "http/message.h"
#include "nicmon/monitor/view.h"

namespace nicmon::http {

/// The page at `/`: tables for people, no script, everything from hardware escaped.
Reply StatusPage(const NodeView& view, const std::string& version);

}  // namespace nicmon::http
