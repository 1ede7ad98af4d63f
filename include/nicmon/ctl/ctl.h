#pragma once

#include <string>
#include <vector>

namespace nicmon {

/// `nicmon ctl …`: asks a running nicmon, prints the answer, and returns the exit code: 0 yes or
/// done, 1 the answer is no or it failed, 2 wrong usage or nobody to ask. argv[1] is "ctl". Never
/// throws.
int RunCtl(int argc, const char* const* argv);

/// One row of the command table as people see it: help, completion, tests.
struct CtlCommandText {
  std::string name;
  std::string target;              // "DEVICE/PORT", "[DEVICE]", …; empty: takes none
  std::vector<std::string> flags;  // "--reason", without those that every command takes
};
std::vector<CtlCommandText> CtlCommandTexts();

/// "--socket", …: what every command takes.
std::vector<std::string> CtlCommonFlags();

}  // namespace nicmon
