#include <charconv>
#include <set>

#include "nicmon/sim/simulated_rnic.h"
#include "node.h"

namespace nicmon {
namespace {

constexpr const char* kAccepted =
    "accepted: devices=N (1..64) or names=A+B, ports=N (1..16), speed=GBPS "
    "(a speed and width that exist, 10 to 2400), link=eth|ib";

std::optional<uint64_t> ParseNumber(const std::string& text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) {
      return parts;
    }
    begin = end + 1;
  }
}

bool ParseNames(const std::string& value, SimulationSpec* spec) {
  spec->names = Split(value, '+');
  std::set<std::string> seen;
  for (const std::string& name : spec->names) {
    const bool bad = name.empty() || name.size() >= IBV_SYSFS_NAME_MAX ||
                     name.find('/') != std::string::npos || name == "." || name == "..";
    if (bad || !seen.insert(name).second) {
      return false;
    }
  }
  return true;
}

void NumberedNames(uint64_t count, SimulationSpec* spec) {
  spec->names.clear();
  for (uint64_t i = 0; i < count; ++i) {
    spec->names.push_back("mlx5_" + std::to_string(i));
  }
}

bool ParseItem(const std::string& key, const std::string& value, SimulationSpec* spec) {
  if (key == "devices") {
    const auto count = ParseNumber(value, 1, 64);
    NumberedNames(count.value_or(0), spec);
    return count.has_value();
  }
  if (key == "names") {
    return ParseNames(value, spec);
  }
  if (key == "ports") {
    const auto ports = ParseNumber(value, 1, 16);
    spec->ports = static_cast<uint32_t>(ports.value_or(0));
    return ports.has_value();
  }
  if (key == "speed") {
    spec->speed_gbps = ParseNumber(value, 1, 2400).value_or(0);
    return sim::CodesForSpeed(spec->speed_gbps).has_value();
  }
  if (key == "link") {
    spec->infiniband = value == "ib";
    return value == "ib" || value == "eth";
  }
  return false;
}

}  // namespace

std::optional<SimulationSpec> ParseSimulationSpec(const std::string& text, std::string* error) {
  SimulationSpec spec;
  NumberedNames(2, &spec);
  if (text.empty()) {
    return spec;
  }
  std::set<std::string> keys;
  for (const std::string& item : Split(text, ',')) {
    const size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    const bool names_twice = (key == "names" && keys.count("devices") != 0) ||
                             (key == "devices" && keys.count("names") != 0);
    if (!keys.insert(key).second || names_twice || !ParseItem(key, value, &spec)) {
      *error = "\"" + item + "\" is not understood; " + kAccepted;
      return std::nullopt;
    }
  }
  return spec;
}

}  // namespace nicmon
