#pragma once

#include <chrono>
#include <thread>

namespace nicmon::testing {

/// Polls a condition that another thread or process brings about; false when it never came true.
/// The limit is generous: it only decides how long a failing test takes.
template <typename Condition>
bool WaitFor(Condition condition, std::chrono::seconds limit = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace nicmon::testing
