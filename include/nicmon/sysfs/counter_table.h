#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nicmon {

/// What a port's throughput is made of, sampled on each tick.
enum class Traffic : uint8_t { kNone, kReceived, kTransmitted };

struct CounterTraits {
  uint32_t scale = 1;  // what one step of the file is worth: 4 bytes for port data words
  uint32_t bits = 64;  // below 64: the field's width, at whose largest value it sticks
  bool full = false;   // only in the full profile
  Traffic traffic = Traffic::kNone;
};

/// A hardware counter of a port that nicmon has a metric for. Adding one is adding one row.
struct CounterRow {
  std::string_view directory;  // under ports/<n>/: "counters_ext", "counters", "hw_counters"
  std::string_view file;
  std::string_view metric;  // "nicmon_port_link_downed_total"
  std::string_view help;    // one line with the unit; the same in all rows of a metric
  CounterTraits traits = {};
};

/// All rows in the order in which the page has their metrics; rows of one metric stand together,
/// the best source first. Of the sources that a port has only the first is ever read: a 64-bit
/// copy and a saturating one of one counter are never both shown.
///
/// Metric names: node_exporter's tails behind "nicmon_port_", a tail's own "port_" left out
/// (docs/metrics.md has the mapping).
std::span<const CounterRow> CounterTable();

/// Which of CounterTable()'s metrics a row belongs to, and how many there are: rows are numbered by
/// metric, 0, 1, 2 …
std::span<const uint16_t> CounterMetricOfRow();
size_t CounterMetricCount();

}  // namespace nicmon
