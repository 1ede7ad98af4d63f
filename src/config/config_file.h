#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nicmon::config {

struct FileEntry {
  int line = 0;
  std::string key;
  std::string value;
};

struct FileContents {
  std::vector<FileEntry> entries;
  std::string error = {};       // one line "FILE:LINE: …"; then there are no entries
  std::string unreadable = {};  // why the file cannot be read; then there is nothing else
};

/// Splits `key = value` lines. `#` at the start of a line or after white space begins a comment. A
/// value that begins with a double quote ends at the next one and is taken literally between them.
FileContents ParseConfigFile(const std::string& name, std::string_view text);

/// Reads and splits a regular file of at most 1 MiB.
FileContents ReadConfigFile(const std::string& path);

}  // namespace nicmon::config
