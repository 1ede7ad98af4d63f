#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace nicmon {

using LabelPairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Appends `name="value"` with the value escaped, behind a comma unless `out` is empty.
void AppendLabel(std::string& out, std::string_view name, std::string_view value);

/// Writes one family's lines to the end of a page. Its header goes with the first of them, so a
/// family without any is left out. What is passed to the constructor must outlive the writer.
class FamilyWriter {
 public:
  FamilyWriter(std::string& out, std::string_view name, prometheus::MetricType type,
               std::string_view help)
      : out_(out), name_(name), help_(help), type_(type) {}

  /// `labels` are as AppendLabel() made them; `more` come after them, those with an empty value are
  /// left out.
  void Line(std::string_view labels, LabelPairs more, double value);
  /// Whatever type it is of.
  void Metric(const prometheus::ClientMetric& metric);

 private:
  void Header();
  void Summary(const prometheus::ClientMetric& metric);
  void Histogram(const prometheus::ClientMetric& metric);
  template <typename Number>
  void MetricLine(const prometheus::ClientMetric& metric, std::string_view suffix, Number value,
                  std::string_view extra = {}, double extra_value = 0);

  std::string& out_;
  const std::string_view name_, help_;
  const prometheus::MetricType type_;
  bool begun_ = false;
};

}  // namespace nicmon
