#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/child.h"
#include "testing/stopwatch.h"

namespace nicmon {

inline constexpr std::chrono::milliseconds kStopLimit(2000);
inline constexpr std::chrono::milliseconds kLong(20000);

/// The command line of a nicmon with these flags.
inline std::vector<std::string> Program(const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {NICMON_PROGRAM};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

/// The same with simulated devices, on a port of its own.
inline std::vector<std::string> Simulated(const std::vector<std::string>& flags = {}) {
  auto arguments = Program({"--simulate", "--simulate-force", "--listen=127.0.0.1:0"});
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  if (flags.empty()) {
    arguments.emplace_back("--admin-socket=none");
  }
  return arguments;
}

/// The port in `serving listen=127.0.0.1:PORT`.
inline int PortOf(testing::Child& child) {
  EXPECT_TRUE(child.WaitForOutput(" serving listen="));
  EXPECT_TRUE(child.WaitForOutput("simulated="));
  const std::string& text = child.OutputSoFar();
  const size_t colon = text.find(':', text.find(" serving listen=") + 16);
  return std::stoi(text.substr(colon + 1));
}

/// The text of a file below /proc/PID.
inline std::string ProcFile(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Exit 0 within two seconds after SIGTERM.
inline void ExpectStops(testing::Child& child, int signal = SIGTERM) {
  const testing::Stopwatch stopwatch;
  child.Signal(signal);
  EXPECT_EQ(child.Wait(kLong), 0) << child.OutputSoFar();
  EXPECT_LT(stopwatch.Elapsed(), kStopLimit);
}

}  // namespace nicmon
