#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nicmon/base/state_directory.h"

namespace nicmon {

/// holds.json in the state directory. Used by one thread at a time.
class HoldsFile {
 public:
  explicit HoldsFile(std::shared_ptr<const StateDirectory> directory);

  struct Content {
    std::optional<std::string> text;  // nullopt: there is no file, or it cannot be read
    std::string problem;              // why it cannot be read; empty when it can, or is not there
  };
  Content Read() const;

  /// The file is not what it should be: it is kept beside under a name of its own, now or, where
  /// that cannot be done yet, before the first Write(). The name it has there.
  std::string KeepBroken();

  /// Durable once it returns "", else what went wrong; then the old content is in place, or the new
  /// one if only the directory could not be synced. `wanted` as in StateDirectory::Replace().
  std::string Write(std::string_view text, const std::function<bool()>& wanted = {});

  /// Whether a file that was kept by KeepBroken(), now or in an earlier process, is still there.
  bool BrokenBeside() const;

  std::string path() const;

 private:
  int Keep();

  const std::shared_ptr<const StateDirectory> directory_;
  std::string keep_as_;  // what is to be done before the file may be replaced; empty: nothing
};

}  // namespace nicmon
