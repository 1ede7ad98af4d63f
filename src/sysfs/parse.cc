#include "parse.h"

#include <charconv>

#include "nicmon/base/text.h"

namespace nicmon::sysfs_internal {

std::optional<uint64_t> ParseNumber(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<uint64_t> ParseTenths(std::string_view text, std::string_view unit) {
  const size_t at = text.find(unit);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view number = text.substr(0, at);
  const size_t point = number.find('.');
  const std::string_view digit = point == std::string_view::npos ? "0" : number.substr(point + 1);
  const std::optional<uint64_t> whole = ParseNumber(number.substr(0, point));
  const std::optional<uint64_t> tenths = ParseNumber(digit);
  constexpr uint64_t kMost = 1'000'000'000;  // far beyond any link, far from overflow
  if (!whole || !tenths || digit.size() != 1 || *whole > kMost || *whole + *tenths == 0) {
    return std::nullopt;
  }
  return *whole * 10 + *tenths;
}

bool IsComponent(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::string DevicePath(const std::string& device) {
  return IsComponent(device) ? "class/infiniband/" + device : "";
}

std::string ReadLine(const SysfsFiles& sysfs, const std::string& path) {
  const FileRead file = sysfs.read(path);
  return file.error == 0 ? CleanLine(file.text) : "";
}

std::optional<uint64_t> ReadNumber(const SysfsFiles& sysfs, const std::string& path) {
  return ParseNumber(ReadLine(sysfs, path));
}

std::string BaseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace nicmon::sysfs_internal
