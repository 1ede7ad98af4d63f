#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace nicmon {

/// The id of a group of this host by its name, or of any group by its number: a container knows
/// numbers that its group file does not have. nullopt: there is none, or the number means none.
std::optional<gid_t> FindGroup(const std::string& group);

}  // namespace nicmon
