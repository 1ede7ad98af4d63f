#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "nicmon/config/config.h"

namespace nicmon {

using Strings = std::vector<std::string>;

/// As a start with these flags and this environment reads them.
inline CommandLine ReadLine(const Strings& flags, const Strings& environment = {}) {
  std::vector<const char*> argv = {"nicmon"};
  std::vector<const char*> variables;
  for (const auto& flag : flags) {
    argv.push_back(flag.c_str());
  }
  for (const auto& variable : environment) {
    variables.push_back(variable.c_str());
  }
  argv.push_back(nullptr);
  variables.push_back(nullptr);
  return ReadCommandLine(static_cast<int>(argv.size()) - 1, argv.data(), variables.data());
}

/// The same of what is accepted.
inline Config Read(const Strings& flags, const Strings& environment = {}) {
  const CommandLine line = ReadLine(flags, environment);
  EXPECT_EQ(line.action, CommandLine::Action::kRun) << line.output;
  return line.config;
}

/// The one line of a usage error.
inline std::string Refused(const Strings& flags, const Strings& environment = {}) {
  const CommandLine line = ReadLine(flags, environment);
  EXPECT_EQ(line.action, CommandLine::Action::kExit);
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.output, ::testing::StartsWith("nicmon: "));
  EXPECT_EQ(std::count(line.output.begin(), line.output.end(), '\n'), 1) << line.output;
  EXPECT_TRUE(line.output.ends_with('\n'));
  return line.output;
}

/// What is in force, as text, by the key.
inline std::map<std::string, std::string> Effective(const Config& config) {
  return {config.effective.begin(), config.effective.end()};
}

}  // namespace nicmon
