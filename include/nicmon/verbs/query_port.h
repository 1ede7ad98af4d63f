#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// The exported ibv_query_port of libibverbs: writes the first 48 bytes of the structure only.
using LegacyQueryPort = int (*)(ibv_context* context, uint8_t port, void* attributes);

/// Asks an open context of libibverbs about a port, through the context's own operation with room
/// for more than this build's header knows: a library that has active_speed_ex then fills it in, an
/// older one leaves it 0. A context without that operation is asked through `legacy`.
///
/// Returns 0 or an errno; EINVAL for a number that does not fit the operation's eight bits. `out`
/// is written on success only.
int QueryPortAttributes(ibv_context* context, uint32_t port, LegacyQueryPort legacy,
                        PortAttributes* out);

/// A libibverbs result as 0 or a positive errno. Its functions answer with an errno, with a
/// negative one, or with -1 and errno set; a bare -1 is EIO.
int EvenOut(int result);

/// The rdma-core version in the name of the loaded file, "44.0" of "libibverbs.so.1.14.44.0";
/// "unknown" when the name is another.
std::string LibraryVersion(const std::string& path);

}  // namespace nicmon
