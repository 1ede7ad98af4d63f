#pragma once

#include <string>
#include <vector>

#include "ctl/command_table.h"

namespace nicmon::ctl {

/// A command line taken apart and checked against the tables.
struct Parsed {
  const CommandRow* command = nullptr;
  Invocation invocation;
  bool help = false;  // of `command`, or of all without one
  std::string error;  // one line; empty when the command line is understood
};

/// argv[0] is not looked at.
Parsed ParseCommandLine(int argc, const char* const* argv);

}  // namespace nicmon::ctl
