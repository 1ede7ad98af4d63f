#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "nicmon/base/log.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::testing {

/// Everything logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) == 0) {
      read_.reset(fds[0]);
      write_.reset(fds[1]);
    }
    log::Start(log::Format::kText, log::Level::kInfo, write_.get());
  }
  ~LogCapture() { log::Stop(1000); }

  /// The records so far without time; ends the capture.
  std::vector<std::string> Records() {
    log::Stop(5000);
    write_.reset();
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = ::read(read_.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
    std::vector<std::string> records;
    for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      records.push_back(text.substr(begin + 25, end - begin - 25));
    }
    return records;
  }

 private:
  UniqueFd read_, write_;
};

}  // namespace nicmon::testing
