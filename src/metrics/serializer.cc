#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nicmon/base/text.h"
#include "nicmon/metrics/exposition.h"
#include "serializer.h"

namespace nicmon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

template <typename Number>
void AppendChars(std::string& out, Number value) {
  char text[32];  // the shortest form of any double has at most 24 characters
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

void AppendValue(std::string& out, double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else if (std::abs(value) < kTwoTo63 && std::trunc(value) == value &&
             !(value == 0 && std::signbit(value))) {
    AppendChars(out, static_cast<int64_t>(value));
  } else {
    AppendChars(out, value);
  }
}

/// `quoted`: a label value, where the quote is escaped too.
void AppendEscaped(std::string& out, std::string_view text, bool quoted) {
  size_t copied = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x80 && c != '\\' && c != '\n' && c != '"') {
      ++i;  // nearly always
      continue;
    }
    const size_t length = DecodeUtf8(text.substr(i)).length;
    const std::string_view replaced = length == 0          ? "\xEF\xBF\xBD"
                                      : c == '\\'          ? "\\\\"
                                      : c == '\n'          ? "\\n"
                                      : c == '"' && quoted ? "\\\""
                                                           : "";
    if (replaced.empty()) {
      i += length;
      continue;
    }
    out.append(text, copied, i - copied);
    out += replaced;
    copied = ++i;
  }
  out.append(text, copied);
}

std::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Summary:
      return "summary";
    case MetricType::Histogram:
      return "histogram";
    case MetricType::Untyped:
      break;
  }
  return "untyped";
}

/// Up to the opening quote of the value.
void AppendLabelAfter(std::string& out, char& separator, std::string_view name) {
  out += std::exchange(separator, ',');
  out += name;
  out += "=\"";
}

/// About the size of the page, so that it grows without being copied.
size_t EstimateSize(const std::vector<MetricFamily>& families) {
  size_t size = 0;
  for (const MetricFamily& family : families) {
    size_t lines = 0;
    for (const ClientMetric& metric : family.metric) {
      lines += 1 + metric.histogram.bucket.size() + metric.summary.quantile.size();
    }
    size += family.help.size() + 2 * family.name.size() + 32 + lines * (family.name.size() + 72);
  }
  return size;
}

}  // namespace

void AppendLabel(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) {
    out += ',';
  }
  out += name;
  out += "=\"";
  AppendEscaped(out, value, true);
  out += '"';
}

void FamilyWriter::Header() {
  if (std::exchange(begun_, true)) {
    return;
  }
  if (!help_.empty()) {
    out_ += "# HELP ";
    out_ += name_;
    out_ += ' ';
    AppendEscaped(out_, help_, false);
    out_ += '\n';
  }
  out_ += "# TYPE ";
  out_ += name_;
  out_ += ' ';
  out_ += TypeName(type_);
  out_ += '\n';
}

void FamilyWriter::Line(std::string_view labels, LabelPairs more, double value) {
  Header();
  out_ += name_;
  char separator = '{';
  if (!labels.empty()) {
    out_ += std::exchange(separator, ',');
    out_ += labels;
  }
  for (const auto& [name, text] : more) {
    if (!text.empty()) {
      AppendLabelAfter(out_, separator, name);
      AppendEscaped(out_, text, true);
      out_ += '"';
    }
  }
  out_ += separator == ',' ? "} " : " ";
  AppendValue(out_, value);
  out_ += '\n';
}

void FamilyWriter::Metric(const ClientMetric& metric) {
  Header();
  switch (type_) {
    case MetricType::Counter:
      return MetricLine(metric, "", metric.counter.value);
    case MetricType::Gauge:
      return MetricLine(metric, "", metric.gauge.value);
    case MetricType::Untyped:
      return MetricLine(metric, "", metric.untyped.value);
    case MetricType::Summary:
      return Summary(metric);
    case MetricType::Histogram:
      return Histogram(metric);
  }
}

void FamilyWriter::Summary(const ClientMetric& metric) {
  MetricLine(metric, "_count", metric.summary.sample_count);
  MetricLine(metric, "_sum", metric.summary.sample_sum);
  for (const auto& quantile : metric.summary.quantile) {
    MetricLine(metric, "", quantile.value, "quantile", quantile.quantile);
  }
}

void FamilyWriter::Histogram(const ClientMetric& metric) {
  const auto& histogram = metric.histogram;
  MetricLine(metric, "_count", histogram.sample_count);
  MetricLine(metric, "_sum", histogram.sample_sum);
  double last = -std::numeric_limits<double>::infinity();
  for (const auto& bucket : histogram.bucket) {
    MetricLine(metric, "_bucket", bucket.cumulative_count, "le", bucket.upper_bound);
    last = bucket.upper_bound;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (last != kInfinity) {  // the format demands it
    MetricLine(metric, "_bucket", histogram.sample_count, "le", kInfinity);
  }
}

/// `extra`: the label that sets a bucket or quantile apart, with its value.
template <typename Number>
void FamilyWriter::MetricLine(const ClientMetric& metric, std::string_view suffix, Number value,
                              std::string_view extra, double extra_value) {
  out_ += name_;
  out_ += suffix;
  char separator = '{';
  for (const ClientMetric::Label& label : metric.label) {
    AppendLabelAfter(out_, separator, label.name);
    AppendEscaped(out_, label.value, true);
    out_ += '"';
  }
  if (!extra.empty()) {
    AppendLabelAfter(out_, separator, extra);
    AppendValue(out_, extra_value);
    out_ += '"';
  }
  out_ += separator == ',' ? "} " : " ";
  if constexpr (std::is_integral_v<Number>) {
    AppendChars(out_, value);
  } else {
    AppendValue(out_, value);
  }
  if (metric.timestamp_ms != 0) {
    out_ += ' ';
    AppendChars(out_, metric.timestamp_ms);
  }
  out_ += '\n';
}

std::string ExpositionSerializer::Serialize(const std::vector<MetricFamily>& families) const {
  std::string out;
  out.reserve(EstimateSize(families));
  for (const MetricFamily& family : families) {
    FamilyWriter writer(out, family.name, family.type, family.help);
    for (const ClientMetric& metric : family.metric) {
      writer.Metric(metric);
    }
  }
  return out;
}

void ExpositionSerializer::Serialize(std::ostream& out,
                                     const std::vector<MetricFamily>& families) const {
  out << Serialize(families);
}

}  // namespace nicmon
