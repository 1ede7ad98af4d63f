#pragma once

#include <string>

namespace nicmon {

/// "0.1.0".
std::string Version();
/// The commit this was built from, with "-dirty" where files differed; "unknown" without git.
std::string Revision();
/// Version of the libibverbs headers at build time, as pkg-config tells it ("1.14.44.0").
std::string LibibverbsHeaderVersion();

}  // namespace nicmon
