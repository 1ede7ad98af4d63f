#include "ctl/text.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/text.h"

namespace nicmon::ctl {
namespace {

/// 0 or an errno.
int Write(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  return 0;
}

bool IsUnreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += IsUnreserved(c) ? std::string(1, c) : std::string{'%', kHex[byte / 16], kHex[byte % 16]};
  }
  return out;
}

std::string Aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::optional<PortName> ParsePortName(std::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return std::nullopt;
  }
  return PortName{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

bool Print(std::string_view text) {
  const int error = Write(STDOUT_FILENO, text);
  if (error == EPIPE) {
    return false;  // `| head` has seen enough
  }
  if (error != 0) {
    PrintError("cannot write to standard output: " + ErrnoText(error));
  }
  return error == 0;
}

void PrintError(std::string_view line) {
  (void)Write(STDERR_FILENO, "nicmon ctl: " + CleanLine(line) + "\n");
}

}  // namespace nicmon::ctl
