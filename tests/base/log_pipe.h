#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "nicmon/base/log.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::log {

/// A pipe with room for so many bytes.
struct Pipe {
  UniqueFd read, write;
  explicit Pipe(int capacity = 1 << 20) {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) == 0) {
      read.reset(fds[0]);
      write.reset(fds[1]);
      ::fcntl(write.get(), F_SETPIPE_SZ, capacity);
    }
  }

  /// What is written until the write end is closed.
  std::string ReadAll() {
    write.reset();
    std::string text;
    std::array<char, 65536> buffer;
    for (ssize_t n = 0; (n = ::read(read.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
    return text;
  }
};

/// The lines of a text that ends with one.
inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  EXPECT_EQ(begin, text.size()) << "the last line does not end";
  return lines;
}

/// Ends the logger whatever a test does.
struct Logging {
  Logging(Format format, Level level, const Pipe& pipe) { Start(format, level, pipe.write.get()); }
  ~Logging() { Stop(0); }
};

}  // namespace nicmon::log
