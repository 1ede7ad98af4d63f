#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "emitters.h"
#include "nicmon/metrics/exposition.h"
#include "nicmon/metrics/table.h"
#include "samples.h"
#include "serializer.h"

namespace nicmon {
namespace {

/// What the page is about, with the labels of each part made once per scrape.
struct Subjects {
  struct Device {
    const DeviceView* view;
    Samples::Labels labels;
  };
  struct Port {
    const PortView* view;
    Samples::Labels labels;
  };
  const MetricsInput* input;
  std::vector<Device> devices;
  std::vector<Port> ports;
};

/// One view per name; a present device beats an absent one.
std::vector<const DeviceView*> OnePerName(const std::vector<DeviceView>& devices) {
  std::vector<const DeviceView*> kept;
  for (const DeviceView& device : devices) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const DeviceView* other) {
      return other->data->name == device.data->name;
    });
    if (same == kept.end()) {
      kept.push_back(&device);
    } else if ((*same)->data->status == DeviceStatus::kAbsent) {
      *same = &device;
    }
  }
  return kept;
}

Subjects FindSubjects(const MetricsInput& input) {
  Subjects subjects{&input, {}, {}};
  for (const DeviceView* device : OnePerName(input.view.devices)) {
    Samples::Labels labels;
    labels.Add("device", device->data->name);
    subjects.devices.push_back({device, labels});
    for (const PortView& port : device->ports) {
      subjects.ports.push_back({&port, labels});
      subjects.ports.back().labels.Add("port", std::to_string(port.data->number));
    }
  }
  return subjects;
}

/// Calls the row's function for each of its subjects.
struct Emit {
  Samples& samples;
  const Subjects& subjects;

  void operator()(MetricRow::OfNode emit) const { emit(samples, *subjects.input); }
  void operator()(MetricRow::OfDevice emit) const { Each(subjects.devices, emit); }
  void operator()(MetricRow::OfPort emit) const { Each(subjects.ports, emit); }
  void operator()(MetricRow::OfCounter counter) const {
    Each(subjects.ports, [counter](Samples& s, const PortView& port) {
      emit::PortCounter(s, port, counter.metric);
    });
  }

  template <typename Subject, typename Function>
  void Each(const std::vector<Subject>& all, Function emit) const {
    for (const Subject& subject : all) {
      samples.Under(subject.labels);
      emit(samples, *subject.view);
    }
  }
};

/// Calls use(row, subjects) with each row that the profile has, in the table's order.
template <typename Use>
void ForEachRow(const MetricsInput& input, Use use) {
  const Subjects subjects = FindSubjects(input);
  for (const MetricRow& row : MetricTable()) {
    if (row.profile <= input.profile) {
      use(row, subjects);
    }
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> BuildFamilies(const MetricsInput& input) {
  std::vector<prometheus::MetricFamily> families;
  families.reserve(MetricTable().size());
  ForEachRow(input, [&](const MetricRow& row, const Subjects& subjects) {
    prometheus::MetricFamily family{std::string(row.name), std::string(row.help), row.type, {}};
    Samples samples(family, input.profile);
    std::visit(Emit{samples, subjects}, row.emit);
    if (!family.metric.empty()) {
      families.push_back(std::move(family));
    }
  });
  return families;
}

std::string RenderPage(const MetricsInput& input) {
  // More than a page needs, so that it never moves while it grows; untouched memory costs nothing.
  constexpr size_t kHeader = 256, kLine = 96;
  std::string page;
  page.reserve(MetricTable().size() * (kHeader + kLine * input.view.ports));
  ForEachRow(input, [&](const MetricRow& row, const Subjects& subjects) {
    FamilyWriter writer(page, row.name, row.type, row.help);
    Samples samples(writer, input.profile);
    std::visit(Emit{samples, subjects}, row.emit);
  });
  return page;
}

}  // namespace nicmon
