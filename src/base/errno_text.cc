#include "nicmon/base/errno_text.h"

#include <cerrno>
#include <cstring>

namespace nicmon {
namespace {

constexpr int kMaxErrno = 4095;  // the kernel's MAX_ERRNO

}  // namespace

std::string_view ErrnoName(int error) {
  const char* name = error > 0 ? ::strerrorname_np(error) : nullptr;
  return name != nullptr ? std::string_view(name) : std::string_view();
}

std::string ErrnoText(int error) {
  const std::string_view name = ErrnoName(error);
  if (name.empty()) {
    return "errno " + std::to_string(error);
  }
  return std::string(name) + " (" + ::strerrordesc_np(error) + ")";
}

std::optional<int> ErrnoFromName(std::string_view name) {
  for (int error = 1; error <= kMaxErrno; ++error) {
    if (!name.empty() && ErrnoName(error) == name) {
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace nicmon
