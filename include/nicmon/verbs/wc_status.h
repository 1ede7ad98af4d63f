#pragma once

#include <string>

namespace nicmon {

/// The standard name of a completion's status (ibv_wc_status), "IBV_WC_RETRY_EXC_ERR"; its number
/// for one that is not known.
std::string WcStatusName(int status);

}  // namespace nicmon
