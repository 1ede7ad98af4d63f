#pragma once

#include <memory>
#include <string>

#include "nicmon/base/clock.h"
#include "nicmon/base/epoll.h"
#include "nicmon/device/device_context.h"
#include "nicmon/device/gid.h"
#include "nicmon/device/probe_result.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// A context of its own with what a probe needs: protection domain, completion channel, data queue.
/// Shares nothing with the monitor's. Used by one thread at a time, and may be handed on.
class DataPath {
 public:
  /// All or nothing; throws AcquireError. Of `options` it takes the device (name, kernel_index).
  DataPath(std::shared_ptr<const VerbsApi> api, AcquireOptions options);
  DataPath(const DataPath&) = delete;
  DataPath& operator=(const DataPath&) = delete;

  /// Reads async events that have come, some thousands at most, which would pile up in the kernel.
  /// False when one says, or an error, that the path is of no use any more: build another.
  bool Drain();

 private:
  friend ProbeResult ProbeLoopback(DataPath& path, uint32_t port, const GidNetdev& netdev,
                                   Duration patience);
  const std::shared_ptr<const VerbsApi> api_;
  Epoll epoll_;  // outlives the context
  DeviceContext context_;
};

/// What to do where RLIMIT_MEMLOCK is in the way.
std::string MemlockHint();

/// What to do about a data path that cannot be built; empty where nothing can be said.
std::string AcquireHint(const AcquireError& error);

/// Sends some bytes through the port to itself: memory, an RC queue pair connected to itself, one
/// RDMA WRITE, and a look at what arrived. All that it builds is gone afterwards, whatever failed;
/// the path is as it was, unless Drain() says otherwise. Waits for the completion for at most
/// `patience`; a verb that hangs hangs it. `netdev` as for ChooseGid(). Steps from kQueryPort on.
ProbeResult ProbeLoopback(DataPath& path, uint32_t port, const GidNetdev& netdev,
                          Duration patience);

}  // namespace nicmon
