#pragma once

#include <span>

#include "nicmon/metrics/table.h"

namespace nicmon {

/// The part of MetricTable() that is about the node and the process; the page has it first.
std::span<const MetricRow> NodeRows();

}  // namespace nicmon
