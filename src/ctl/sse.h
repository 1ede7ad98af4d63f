#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nicmon::ctl {

/// Puts the pieces of a stream of server-sent events together, as far as nicmon sends them: an
/// event has one line of data, whose kind the data itself shows.
class EventReader {
 public:
  /// The data of the events that `piece` completes.
  std::vector<std::string> Read(std::string_view piece);

 private:
  std::string rest_;  // of a line that has not ended yet
};

}  // namespace nicmon::ctl
