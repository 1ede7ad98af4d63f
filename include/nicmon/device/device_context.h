#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nicmon/base/clock.h"
#include "nicmon/base/epoll.h"
#include "nicmon/device/gid.h"
#include "nicmon/device/pause_reasons.h"
#include "nicmon/device/port_query.h"
#include "nicmon/device/stack.h"
#include "nicmon/verbs/handles.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// The steps of an acquisition, in order.
enum class AcquireStep {
  kDeviceList,
  kFindDevice,  // no device of that name, or index
  kOpen,
  kQueryDevice,
  kPortNumber,  // not in 1 … port count
  kQueryPort,
  kGid,
  kProtectionDomain,
  kAsyncFlags,         // making the async fd non-blocking
  kAsyncRegistration,  // adding it to the event set
  kChannel,
  kChannelFlags,
  kChannelRegistration,
  kDataQueue,
  kNotificationQueue,
  kFinalQuery,
};
/// "get_device_list", "open_device", … for logs.
std::string_view AcquireStepName(AcquireStep step);

/// A device context could not be built. Nothing that it had acquired is held any more.
class AcquireError : public std::exception {
 public:
  AcquireError(AcquireStep step, int error, const std::string& device,
               const std::string& note = "");
  AcquireStep step() const { return step_; }
  int error() const { return error_; }  // errno
  /// One line: "mlx5_0: open_device: EACCES (Permission denied)".
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  AcquireStep step_;
  int error_;
  std::string what_;
};

/// What to acquire. The default watches a device: the context and its async events only.
struct AcquireOptions {
  std::string name;                 // exact
  std::optional<int> kernel_index;  // decides alone, when given; the name is for the log then
  uint32_t port = 0;                // 1-based; 0: none in particular, not with need_gid
  bool need_data_path = false;      // protection domain, channels, completion queues
  bool need_gid = false;            // no usable GID: no context
  std::optional<uint32_t> gid_index;
  uint32_t channels = 1;
  uint32_t data_cqs = 1;
  uint32_t notification_cqs = 1;
  int cqes = 16;
  std::function<std::string(uint32_t port, uint32_t index)> gid_netdev;  // may be empty
  OutsideSpeed outside_speed;
  SteadyTime now{};

  /// All or nothing: a port that cannot be asked is a failure.
  bool strict() const { return need_data_path || need_gid; }
};

/// An open device: it exists with everything it was asked for, or it does not exist.
///
/// Acquisition is the order of the members, rollback and release are their destructors: each holds
/// what it holds exactly once and gives it back in reverse, whatever failed. Used by one thread,
/// which is also the one that waits on `epoll`.
class DeviceContext {
 public:
  /// Throws AcquireError. `epoll` must outlive the context.
  DeviceContext(std::shared_ptr<const VerbsApi> api, Epoll& epoll, AcquireOptions options);
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  const VerbsApi& api() const { return *api_; }
  ibv_context* context() const { return device_.context.get(); }
  const std::string& name() const { return options_.name; }
  /// The kernel's index of the device, -1 where the kernel has none.
  int kernel_index() const { return device_.index; }
  const DeviceAttributes& attributes() const { return attributes_; }
  uint32_t port_count() const { return attributes_.port_count; }
  /// The GID chosen at the opening, with need_gid.
  const std::optional<Gid>& gid() const { return gid_; }

  /// The registration of the async fd (EPOLLIN|EPOLLET: drain to EAGAIN, or come back at once).
  WatchId async_watch() const { return async_watch_.id(); }
  WatchId channel_watch(size_t i) const { return channels_[i].watch.id(); }

  ibv_pd* pd() const { return pd_.get(); }
  size_t channel_count() const { return channels_.size(); }
  size_t data_cq_count() const { return data_cqs_.size(); }
  size_t notification_cq_count() const { return notification_cqs_.size(); }
  ibv_comp_channel* channel(size_t i) const { return channels_[i].channel.get(); }
  ibv_cq* data_cq(size_t i) const { return data_cqs_[i].get(); }
  ibv_cq* notification_cq(size_t i) const { return notification_cqs_[i].get(); }

  SpeedPolicy& speed_policy() { return speed_policy_; }
  /// Asks the hardware about a port.
  PortReading Query(uint32_t port, SteadyTime now) {
    return QueryPort(*api_, context(), port, speed_policy_, now);
  }

  /// The query after the subscription, of options.port: ACTIVE serves, anything else is paused by
  /// link with everything built. Without a port it is empty (error ENOTCONN) and pauses() inert.
  const PortReading& first_query() const { return first_query_; }
  PauseReasons& pauses() { return pauses_; }

 private:
  struct Opened {
    ContextHandle context;
    int index = -1;
  };
  struct Channel {
    ChannelHandle channel;
    EpollRegistration watch;  // ends before the channel's fd is closed
  };

  Opened Open() const;
  DeviceAttributes QueryDevice() const;
  std::optional<Gid> CheckPort() const;
  std::optional<Gid> ChoosePortGid(const PortAttributes& attributes) const;
  PdHandle AllocatePd() const;
  EpollRegistration Watch(Epoll& epoll, int fd, AcquireStep flags_step,
                          AcquireStep registration_step) const;
  Stack<Channel> CreateChannels(Epoll& epoll) const;
  Stack<CqHandle> CreateQueues(uint32_t count, AcquireStep step) const;
  PortReading FirstQuery();
  PauseReasons InitialPauses() const;
  [[noreturn]] void Fail(AcquireStep step, int error, const std::string& note = "") const;

  std::shared_ptr<const VerbsApi> api_;
  AcquireOptions options_;
  Opened device_;
  DeviceAttributes attributes_;
  std::optional<Gid> gid_;
  PdHandle pd_;
  EpollRegistration async_watch_;
  Stack<Channel> channels_;
  Stack<CqHandle> data_cqs_;
  Stack<CqHandle> notification_cqs_;
  SpeedPolicy speed_policy_;
  PortReading first_query_;
  PauseReasons pauses_;
};

}  // namespace nicmon
