#include "ctl/text.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/terminal_text.h"
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

/// Whether the terminal is said to know UTF-8. By the variables and not by the C library, which
/// needs the locale's files: a container often has none.
bool KnowsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      std::string locale = value;
      locale.erase(std::min(locale.find('@'), locale.size()));
      for (char& c : locale) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
      return locale.ends_with(".utf-8") || locale.ends_with(".utf8");
    }
  }
  return false;
}

/// Lines as the terminal can take them, whoever wrote what is in them.
std::string Shown(std::string_view text) {
  if (!KnowsUtf8()) {
    return AsciiText(text);
  }
  std::string out;
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    out += TerminalText(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  return out + TerminalText(text);
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

bool PrintText(std::string_view text) {
  return Print(Shown(text));
}

void PrintError(std::string_view line) {
  (void)Write(STDERR_FILENO, Shown("nicmon ctl: " + CleanLine(line) + "\n"));
}

}  // namespace nicmon::ctl
