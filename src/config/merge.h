#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argv.h"
#include "config_file.h"
#include "flag_table.h"
#include "nicmon/config/config.h"

namespace nicmon::config {

/// Where a value came from.
struct Source {
  std::string kind;   // "flag", "environment", "file", "default"
  std::string where;  // as an error names it: "flag --tick", "x.conf:3: tick"
};

/// Puts the sources on top of each other: call in the order of strength, weakest first. Each step
/// is false at the first wrong value; error() is then one line naming source, key and what is
/// accepted. Values that a stronger source replaces are validated all the same.
class Merge {
 public:
  Merge();
  /// The default of --node-name, which depends on where we are.
  bool NodeName(const char* const* environment);
  /// The file that --config or NICMON_CONFIG names, if any.
  bool ConfigFile(const Arguments& arguments, const char* const* environment);
  bool Environment(const char* const* environment);
  bool Flags(const Arguments& arguments);
  /// Whether the files and the like that the result names exist.
  bool Existence();
  /// Whether the files that the result names hold what they should.
  bool Contents(const std::vector<FileCheck>& checks);

  const std::string& error() const { return error_; }
  Config Result() const;
  /// The effective configuration as a file that gives the same configuration again.
  std::string AsFile() const;

 private:
  struct Setting {
    std::string text;
    Source source;
  };
  bool File(const std::string& path, const Source& source);
  bool Entries(const std::string& path, const std::vector<FileEntry>& entries);
  bool Set(size_t index, const std::vector<std::string>& values, const Source& source);
  bool Reject(const Row& row, const std::string& value, const Source& source,
              const std::string& why);
  bool Fail(std::string error);

  Config config_;
  std::vector<Setting> settings_;  // by row
  std::string error_;
};

/// Index of a row by its name; the number of rows when there is none.
size_t IndexOf(std::string_view name);

/// The value of a variable that is set and not empty. An empty one counts as not set: manifests
/// and unit files have no other way to leave an optional variable out.
std::optional<std::string> Variable(const char* const* environment, std::string_view name);

}  // namespace nicmon::config
