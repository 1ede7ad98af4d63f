#include "ctl/sse.h"

namespace nicmon::ctl {

std::vector<std::string> EventReader::Read(std::string_view piece) {
  constexpr std::string_view kData = "data: ";
  std::vector<std::string> events;
  size_t searched = rest_.size();
  rest_ += piece;
  size_t begin = 0;
  for (size_t end = 0; (end = rest_.find('\n', searched)) != std::string::npos;) {
    const std::string_view line = std::string_view(rest_).substr(begin, end - begin);
    if (line.starts_with(kData)) {
      events.emplace_back(line.substr(kData.size()));
    }
    begin = searched = end + 1;
  }
  rest_.erase(0, begin);
  return events;
}

}  // namespace nicmon::ctl
