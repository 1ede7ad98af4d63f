#include "stats_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "nicmon/base/text.h"

namespace nicmon::sysfs_internal {
namespace {

/// File names by directory, sorted.
using Found = std::map<std::string, std::vector<std::string>, std::less<>>;

/// A setting (how long the driver may answer from its cache), the one file in there that counts
/// nothing.
constexpr std::string_view kLifespan = "lifespan";

std::vector<std::string> ListStats(const SysfsFiles& sysfs, const std::string& directory) {
  std::vector<std::string> names = sysfs.list(directory);
  std::erase(names, kLifespan);
  return names;
}

bool Has(const Found& found, const CounterRow& row) {
  const auto names = found.find(row.directory);
  return names != found.end() &&
         std::binary_search(names->second.begin(), names->second.end(), row.file);
}

/// One file for each metric: the first of its rows that the port has. The files of its other rows
/// are taken out of `found` as well: the same count is not to be shown twice.
void TakeRows(Found& found, StatsLayout& layout) {
  const std::span<const CounterRow> rows = CounterTable();
  layout.of_metric.assign(CounterMetricCount(), -1);
  std::vector<const CounterRow*> present;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!Has(found, rows[i])) {
      continue;
    }
    present.push_back(&rows[i]);
    int& file = layout.of_metric[CounterMetricOfRow()[i]];
    if (file < 0) {
      file = static_cast<int>(layout.files.size());
      if (rows[i].traits.traffic != Traffic::kNone) {
        const bool received = rows[i].traits.traffic == Traffic::kReceived;
        (received ? layout.received : layout.transmitted) = file;
      }
      const std::string name(rows[i].file);
      layout.files.push_back({std::string(rows[i].directory) + "/" + name, name, &rows[i]});
    }
  }
  for (const CounterRow* row : present) {
    std::erase(found.find(row->directory)->second, row->file);
  }
}

/// The rest, up to the cap. Names that cannot be told apart once they are valid text would make
/// the same series twice: the first one has it.
void TakeDriverStats(const Found& found, StatsLayout& layout) {
  std::set<std::string> taken;
  for (const auto& [directory, names] : found) {
    for (const std::string& name : names) {
      std::string stat = CleanLine(name);
      if (stat.empty() || !taken.insert(stat).second) {
        continue;
      }
      if (taken.size() > kMaxDriverStats) {
        ++layout.cut;
        continue;
      }
      layout.files.push_back({directory + "/" + name, std::move(stat), nullptr});
    }
  }
}

}  // namespace

std::shared_ptr<const StatsLayout> PortLayout(const SysfsFiles& sysfs,
                                              const std::string& directory) {
  auto layout = std::make_shared<StatsLayout>();
  Found found;
  for (const char* name : {"counters_ext", "counters", "hw_counters"}) {
    found[name] = ListStats(sysfs, directory + "/" + name);
  }
  layout->counters = !found["counters"].empty() || !found["counters_ext"].empty();
  layout->hw_counters = !found["hw_counters"].empty();
  TakeRows(found, *layout);
  TakeDriverStats(found, *layout);
  return layout;
}

std::shared_ptr<const StatsLayout> DeviceLayout(const SysfsFiles& sysfs,
                                                const std::string& directory) {
  auto layout = std::make_shared<StatsLayout>();
  layout->of_metric.assign(CounterMetricCount(), -1);
  Found found;
  found["hw_counters"] = ListStats(sysfs, directory + "/hw_counters");
  layout->hw_counters = !found["hw_counters"].empty();
  TakeDriverStats(found, *layout);
  return layout;
}

}  // namespace nicmon::sysfs_internal
