#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nicmon::ctl {

std::vector<std::string> Words(std::string_view text);

/// Everything but unreserved characters as %XX: fit for a path segment and for a form.
std::string PercentEncode(std::string_view text);

/// "mlx5_0/1" taken apart at its last slash; nullopt unless both sides hold something.
struct PortName {
  std::string device, port;
};
std::optional<PortName> ParsePortName(std::string_view text);

/// To standard output, or error. Whoever stops reading ends the program quietly; a full disk does
/// not: true unless something could not be written.
bool Print(std::string_view text);
/// The same for people: what their terminal does not know, or should not be told, is '?'.
bool PrintText(std::string_view text);
void PrintError(std::string_view line);  // "nicmon ctl: line\n", for people too

}  // namespace nicmon::ctl
