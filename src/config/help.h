#pragma once

#include <string>

namespace nicmon::config {

/// What --help and --version print.
std::string HelpText();
std::string VersionText();

}  // namespace nicmon::config
