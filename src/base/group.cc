#include "nicmon/base/group.h"

#include <grp.h>

#include <cerrno>
#include <charconv>
#include <vector>

namespace nicmon {
namespace {

constexpr gid_t kNoGroup = static_cast<gid_t>(-1);  // chown() takes it for "leave it as it is"
constexpr size_t kMaxBytes = 16 * 1024 * 1024;

}  // namespace

std::optional<gid_t> FindGroup(const std::string& group) {
  gid_t number = 0;
  const char* const end = group.data() + group.size();
  const auto [stop, error] = std::from_chars(group.data(), end, number);
  if (error == std::errc() && stop == end) {
    return number != kNoGroup ? std::optional(number) : std::nullopt;
  }
  // The entry has all members in it, so there is no size that is always enough.
  for (size_t bytes = 16; bytes <= kMaxBytes; bytes *= 4) {
    std::vector<char> buffer(bytes);
    ::group entry{};
    ::group* found = nullptr;
    if (::getgrnam_r(group.c_str(), &entry, buffer.data(), bytes, &found) != ERANGE) {
      return found != nullptr ? std::optional(found->gr_gid) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace nicmon
