#pragma once

#include <cstring>
#include <string>

namespace nicmon {

/// Order of device names for people: mlx5_2 before mlx5_10, as `ls -v` has it.
inline bool NameLess(const std::string& a, const std::string& b) {
  return ::strverscmp(a.c_str(), b.c_str()) < 0;
}

}  // namespace nicmon
