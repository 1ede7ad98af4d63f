#include <cerrno>
#include <utility>

#include "nicmon/device/loopback_probe.h"
#include "nicmon/verbs/drain.h"

namespace nicmon {
namespace {

// More than a driver sends between two looks. The monitor's thread looks, and a storm is to keep it
// from nothing: what is left waits for the next look.
constexpr uint32_t kEventBudget = 4096;

AcquireOptions ForProbe(AcquireOptions options) {
  options.port = 0;
  options.need_data_path = true;
  options.need_gid = false;
  options.notification_cqs = 0;
  return options;
}

}  // namespace

std::string MemlockHint() {
  return "allow more locked memory: ulimit -l, LimitMEMLOCK= of a systemd unit, the memlock limit "
         "of the container runtime";
}

std::string AcquireHint(const AcquireError& error) {
  const int code = error.error();
  if (error.step() == AcquireStep::kOpen && (code == EACCES || code == EPERM || code == ENOENT)) {
    return "allow read and write on the device node (device cgroup, owner or mode)";
  }
  if (code == EAGAIN || code == ENOSPC) {
    return "allow one more hca_handle and a few hca_object (rdma cgroup)";
  }
  return code == ENOMEM ? MemlockHint() : "";
}

DataPath::DataPath(std::shared_ptr<const VerbsApi> api, AcquireOptions options)
    : api_(std::move(api)), context_(api_, epoll_, ForProbe(std::move(options))) {}

bool DataPath::Drain() {
  while (api_->get_cq_event(context_.channel(0)) == 0) {
  }
  bool usable = true;
  const DrainResult drained = DrainEvents(
      *api_, context_.context(), kEventBudget,
      [&](const AsyncEvent& event) { usable = usable && event.type != IBV_EVENT_CQ_ERR; });
  return usable && !drained.device_fatal && drained.error == 0;
}

}  // namespace nicmon
