#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nicmon {

/// "EIO (Input/output error)"; for an unknown number "errno 4711".
std::string ErrnoText(int error);

/// The symbolic name, "EIO"; empty for an unknown number.
std::string_view ErrnoName(int error);

/// The number of a symbolic name; nullopt when this system has none of that name.
std::optional<int> ErrnoFromName(std::string_view name);

}  // namespace nicmon
