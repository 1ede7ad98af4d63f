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
    const Samples::Labels labels = {{"device", device->data->name}};
    subjects.devices.push_back({device, labels});
    for (const PortView& port : device->ports) {
      subjects.ports.push_back({&port, labels});
      subjects.ports.back().labels.push_back({"port", std::to_string(port.data->number)});
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
      if (&subject == &all.front()) {
        samples.ReserveFor(all.size());
      }
    }
  }
};

/// Calls use(family) with each family that has metrics, in the table's order. What `use` leaves of
/// the family's memory is used again for the next.
template <typename Use>
void ForEachFamily(const MetricsInput& input, Use use) {
  const Subjects subjects = FindSubjects(input);
  prometheus::MetricFamily family;
  for (const MetricRow& row : MetricTable()) {
    if (row.profile > input.profile) {
      continue;
    }
    family.name = row.name;
    family.help = row.help;
    family.type = row.type;
    Samples samples(family, input.profile);
    std::visit(Emit{samples, subjects}, row.emit);
    samples.Finish();
    if (!family.metric.empty()) {
      use(family);
    }
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> BuildFamilies(const MetricsInput& input) {
  std::vector<prometheus::MetricFamily> families;
  families.reserve(MetricTable().size());
  ForEachFamily(input, [&](prometheus::MetricFamily& family) {
    families.push_back(std::exchange(family, {}));
  });
  return families;
}

std::string RenderPage(const MetricsInput& input) {
  // More than a page needs, so that it never moves while it grows; untouched memory costs nothing.
  constexpr size_t kHeader = 256, kLine = 96;
  std::string page;
  page.reserve(MetricTable().size() * (kHeader + kLine * input.view.ports));
  ForEachFamily(input, [&](const prometheus::MetricFamily& family) { AppendFamily(page, family); });
  return page;
}

}  // namespace nicmon
