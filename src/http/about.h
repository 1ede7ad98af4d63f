#pragma once

#include <string>

namespace nicmon::http {

/// What a nicmon says of itself and what stays the same while it runs.
struct About {
  std::string version;
  bool simulated = false;
  std::string admin_socket;  // the path really used, empty: none
};

}  // namespace nicmon::http
