#pragma once

#include <prometheus/metric_type.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "nicmon/metrics/exposition.h"

namespace nicmon {

class Samples;  // src/metrics/samples.h: takes one family's samples

/// One metric: everything there is to know about it. docs/metrics.md has the same rows.
struct MetricRow {
  using OfNode = void (*)(Samples&, const MetricsInput&);
  using OfDevice = void (*)(Samples&, const DeviceView&);  // labels: device
  using OfPort = void (*)(Samples&, const PortView&);      // labels: device, port
  /// One of CounterTable()'s metrics, by its number: as its file has it times the row's scale.
  /// Labels: device, port.
  struct OfCounter {
    uint16_t metric;
  };

  std::string_view name;
  prometheus::MetricType type;
  MetricsProfile profile;  // the smallest one that shows it
  std::string_view help;   // one line with unit and encoding
  /// Adds the samples that exist: none for what is unknown. Called once per node, device or port.
  std::variant<OfNode, OfDevice, OfPort, OfCounter> emit;
};

/// All metrics in the order in which the page has them, those of CounterTable() last.
std::span<const MetricRow> MetricTable();

}  // namespace nicmon
