#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace nicmon::bench {

using BenchClock = std::chrono::steady_clock;

inline double Seconds(BenchClock::duration time) {
  return std::chrono::duration<double>(time).count();
}

/// Samples in seconds.
class Samples {
 public:
  void Add(double seconds) { values_.push_back(seconds); }
  size_t size() const { return values_.size(); }
  double Quantile(double q) {
    if (values_.empty()) {
      return 0;
    }
    std::sort(values_.begin(), values_.end());
    const auto at = static_cast<size_t>(q * static_cast<double>(values_.size() - 1));
    return values_[at];
  }

 private:
  std::vector<double> values_;
};

inline void Heading(const char* title) {
  std::printf("\n%s\n", title);
}

/// One line: what, the figure, its aim.
inline void Row(const std::string& what, const std::string& figure, const std::string& aim = "") {
  std::printf("  %-52s %16s  %s\n", what.c_str(), figure.c_str(), aim.c_str());
}

inline std::string Micros(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  return text;
}

inline std::string Number(double value, const char* unit, int digits = 2) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
  return text;
}

}  // namespace nicmon::bench
