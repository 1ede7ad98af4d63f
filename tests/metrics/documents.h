#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace nicmon::test {

/// Cells of the tables of docs/metrics.md, trimmed, by row.
inline std::vector<std::vector<std::string>> DocumentedRows() {
  std::ifstream file(NICMON_DOCS_DIR "/metrics.md");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ")) {
      continue;
    }
    std::vector<std::string>& cells = rows.emplace_back();
    for (size_t at = 1, end = 0; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
      const size_t first = line.find_first_not_of(' ', at);
      const size_t last = line.find_last_not_of(' ', end - 1);
      cells.push_back(first < end ? line.substr(first, last + 1 - first) : "");
    }
  }
  return rows;
}

/// "`name`" → "name"; anything else → "".
inline std::string Code(const std::string& cell) {
  const bool code = cell.size() > 2 && cell.front() == '`' && cell.back() == '`' &&
                    cell.find('`', 1) == cell.size() - 1;
  return code ? cell.substr(1, cell.size() - 2) : "";
}

}  // namespace nicmon::test
