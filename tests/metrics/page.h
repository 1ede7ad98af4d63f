#pragma once

#include <prometheus/metric_family.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/metrics/exposition.h"
#include "testing/views.h"

namespace nicmon::test {

inline constexpr auto kAbsent = std::nullopt;
/// Labels of the port that most tests have.
inline const std::string kPort = "{device=\"mlx5_0\",port=\"1\"}";

/// The same with one more: `reason="link"`.
inline std::string WithLabel(const std::string& label) {
  return "{device=\"mlx5_0\",port=\"1\"," + label + "}";
}

/// A page taken apart again: "name{labels}" → value text, as a scraper would see it.
class Page {
 public:
  explicit Page(const MetricsInput& input)
      : text_(ExpositionSerializer().Serialize(BuildFamilies(input))) {
    Parse();
  }
  explicit Page(const std::vector<DeviceSpec>& devices,
                MetricsProfile profile = MetricsProfile::kStandard)
      : Page(InputOf(devices, profile)) {}

  static MetricsInput InputOf(const std::vector<DeviceSpec>& devices, MetricsProfile profile) {
    MetricsInput input;
    input.view = View(devices);
    input.profile = profile;
    return input;
  }

  /// The value of exactly this series; nullopt when it is absent.
  std::optional<std::string> Get(const std::string& series) const {
    const auto found = series_.find(series);
    return found == series_.end() ? std::nullopt : std::optional(found->second);
  }
  /// How many series this metric has.
  size_t Count(const std::string& name) const {
    size_t count = 0;
    for (const auto& [series, value] : series_) {
      count += series.substr(0, series.find('{')) == name ? 1 : 0;
    }
    return count;
  }
  size_t size() const { return series_.size(); }
  bool has_duplicates() const { return duplicates_; }
  const std::string& text() const { return text_; }

 private:
  void Parse() {
    for (size_t at = 0; at < text_.size();) {
      const size_t end = text_.find('\n', at);
      const std::string line = text_.substr(at, end - at);
      at = end + 1;
      if (line[0] != '#') {
        const size_t space = line.rfind(' ');
        duplicates_ |= !series_.emplace(line.substr(0, space), line.substr(space + 1)).second;
      }
    }
  }

  std::string text_;
  std::map<std::string, std::string> series_;
  bool duplicates_ = false;
};

/// The value of a metric of kPort that has no other labels.
inline std::optional<std::string> PortValue(const Page& page, const std::string& name) {
  return page.Get(name + kPort);
}

}  // namespace nicmon::test
