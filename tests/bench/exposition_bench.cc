// What a scrape costs besides HTTP: families and text for 16 and 128 ports, with the library's own
// text serializer beside ours.

#include <benchmark/benchmark.h>
#include <prometheus/text_serializer.h>

#include <sstream>

#include "nicmon/metrics/exposition.h"
#include "nicmon/monitor/stats.h"
#include "testing/views.h"

namespace nicmon {
namespace {

MetricsInput Input(int64_t ports) {
  std::vector<test::DeviceSpec> devices;
  for (int64_t i = 0; i < ports; ++i) {
    devices.push_back(test::DeviceWithCounters("mlx5_" + std::to_string(i)));
  }
  MetricsInput input;
  input.view = test::View(devices);
  const NodeStats stats;
  input.event_publish = stats.event_publish_seconds.Collect();
  input.drain_events = stats.drain_events_per_wakeup.Collect();
  input.port_query = stats.port_query_seconds.Collect();
  return input;
}

/// So that the runs can be compared at 2,000 series, whatever a port has.
void CountSeries(benchmark::State& state, const std::vector<prometheus::MetricFamily>& families) {
  double series = 0;
  for (const auto& family : families) {
    series += static_cast<double>(family.metric.size());
  }
  state.counters["series"] = series;
  state.counters["per_2000_series"] = benchmark::Counter(
      series / 2000, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Families(benchmark::State& state) {
  const MetricsInput input = Input(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(BuildFamilies(input));
  }
  CountSeries(state, BuildFamilies(input));
}
BENCHMARK(Families)->Arg(16)->Arg(128);

template <typename Serializer>
void Serialize(benchmark::State& state) {
  const auto families = BuildFamilies(Input(state.range(0)));
  const Serializer serializer;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        static_cast<const prometheus::Serializer&>(serializer).Serialize(families));
  }
  CountSeries(state, families);
}
BENCHMARK(Serialize<ExpositionSerializer>)->Arg(16)->Arg(128);
BENCHMARK(Serialize<prometheus::TextSerializer>)->Arg(16)->Arg(128);

void Page(benchmark::State& state) {
  const MetricsInput input = Input(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(RenderPage(input));
  }
  CountSeries(state, BuildFamilies(input));
}
BENCHMARK(Page)->Arg(16)->Arg(128);

void Process(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadProcess());
  }
}
BENCHMARK(Process);

}  // namespace
}  // namespace nicmon

BENCHMARK_MAIN();
