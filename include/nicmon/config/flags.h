#pragma once

#include <string>
#include <vector>

namespace nicmon {

/// One row of the flag table as people see it: help, documentation, tests.
struct FlagText {
  std::string flag;        // "--listen"
  std::string value_name;  // "ADDR:PORT"; empty: takes no value
  bool value_optional = false;
  std::string environment;   // "NICMON_LISTEN"; empty: none
  std::string key;           // in the file, "listen"; empty: none
  std::string default_text;  // empty: not set
  std::string accepts;       // "a duration from 100ms to 1m"
  std::string help;          // what it does, one sentence
};

/// All rows in the order of --help.
std::vector<FlagText> FlagTexts();

}  // namespace nicmon
