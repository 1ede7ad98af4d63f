#include "config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"
#include "nicmon/base/unique_fd.h"
#include "values.h"

namespace nicmon::config {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

std::string_view WithoutComment(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t')) {
      return text.substr(0, i);
    }
  }
  return text;
}

/// The value as meant; nullopt when a quoted one does not end, or goes on after its end.
std::optional<std::string> Value(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with('"')) {
    return std::string(Trim(WithoutComment(text)));
  }
  const size_t end = text.find('"', 1);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(end + 1);
  if (!Trim(WithoutComment(rest)).empty()) {
    return std::nullopt;
  }
  return std::string(text.substr(1, end - 1));
}

/// An empty error when the line is fine; an entry only when it holds one.
std::string ParseLine(std::string_view line, FileEntry& entry) {
  if (Trim(WithoutComment(line)).empty()) {
    return {};
  }
  const size_t equals = line.find('=');
  const std::string_view key = Trim(line.substr(0, equals));
  if (equals == std::string_view::npos || key.empty()) {
    return log::Quoted(Trim(line)) + " is no \"key = value\" line";
  }
  const auto value = Value(line.substr(equals + 1));
  if (!value) {
    return std::string(key) +
           ": a quoted value ends at the next double quote of its line, and "
           "only a comment may follow";
  }
  entry.key = key;
  entry.value = *value;
  return {};
}

}  // namespace

FileContents ParseConfigFile(const std::string& name, std::string_view text) {
  FileContents contents;
  if (text.starts_with("\xef\xbb\xbf")) {  // a byte order mark
    text.remove_prefix(3);
  }
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    FileEntry entry{number, {}, {}};
    const std::string error = ParseLine(text.substr(0, end), entry);
    if (!error.empty()) {
      return {{}, name + ":" + std::to_string(number) + ": " + error};
    }
    if (!entry.key.empty()) {
      contents.entries.push_back(std::move(entry));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return contents;
}

FileContents ReadConfigFile(const std::string& path) {
  const auto failed = [&](const std::string& why) {
    FileContents contents;
    contents.unreadable = why;
    return contents;
  };
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return failed(ErrnoText(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return failed("not a regular file");
  }
  std::string text;
  std::array<char, 16384> buffer;
  ssize_t n = 0;
  while ((n = ::read(fd.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(n));
    if (text.size() > kMaxBytes) {
      return failed("larger than 1 MiB");
    }
  }
  return n < 0 ? failed(ErrnoText(errno)) : ParseConfigFile(path, text);
}

}  // namespace nicmon::config
