#pragma once

#include <prometheus/metric_family.h>

#include <string>

namespace nicmon {

/// Appends one family's lines; nothing when it has no metrics.
void AppendFamily(std::string& out, const prometheus::MetricFamily& family);

}  // namespace nicmon
