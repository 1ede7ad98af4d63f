#include "nicmon/sysfs/link_attributes.h"

#include <array>
#include <charconv>

namespace nicmon {
namespace {

std::string LinkText(const std::optional<double>& speed, const std::optional<uint32_t>& width) {
  std::string text;
  if (speed) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *speed / 1e9);
    text = std::string(buffer.data(), end.ptr) + " GT/s";
  }
  if (width) {
    text += (text.empty() ? "x" : " x") + std::to_string(*width);
  }
  return text;
}

}  // namespace

bool BelowMaximum(const PcieLink& link) {
  return (link.speed && link.max_speed && *link.speed < *link.max_speed) ||
         (link.width && link.max_width && *link.width < *link.max_width);
}

std::string PcieText(const PcieLink& link) {
  std::string text = LinkText(link.speed, link.width);
  if (BelowMaximum(link)) {
    text += " of " + LinkText(link.max_speed, link.max_width);
  }
  return text;
}

}  // namespace nicmon
