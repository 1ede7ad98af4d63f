#include "nicmon/device/device_context.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "nicmon/base/errno_text.h"

namespace nicmon {
namespace {

/// The device asked for; nullptr when there is none. An index decides alone: after a rename
/// libibverbs goes on listing a device under the name it had when it was first listed.
ibv_device* Find(const VerbsApi& api, const DeviceList& list, const AcquireOptions& options) {
  for (ibv_device* device : list.devices()) {
    if (options.kernel_index ? *options.kernel_index == api.get_device_index(device)
                             : api.get_device_name(device) == options.name) {
      return device;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view AcquireStepName(AcquireStep step) {
  switch (step) {
    case AcquireStep::kDeviceList:
      return "get_device_list";
    case AcquireStep::kFindDevice:
      return "find device";
    case AcquireStep::kOpen:
      return "open_device";
    case AcquireStep::kQueryDevice:
      return "query_device";
    case AcquireStep::kPortNumber:
      return "port number";
    case AcquireStep::kQueryPort:
      return "query_port";
    case AcquireStep::kGid:
      return "choose GID";
    case AcquireStep::kProtectionDomain:
      return "alloc_pd";
    case AcquireStep::kAsyncFlags:
      return "fcntl of the async fd";
    case AcquireStep::kAsyncRegistration:
      return "epoll_ctl of the async fd";
    case AcquireStep::kChannel:
      return "create_comp_channel";
    case AcquireStep::kChannelFlags:
      return "fcntl of a completion channel";
    case AcquireStep::kChannelRegistration:
      return "epoll_ctl of a completion channel";
    case AcquireStep::kDataQueue:
      return "create_cq for data";
    case AcquireStep::kNotificationQueue:
      return "create_cq for notifications";
    case AcquireStep::kFinalQuery:
      return "query_port after the subscription";
  }
  return "";
}

AcquireError::AcquireError(AcquireStep step, int error, const std::string& device,
                           const std::string& note)
    : step_(step), error_(error) {
  what_ = device + ": " + std::string(AcquireStepName(step)) + ": ";
  what_ += note.empty() ? ErrnoText(error) : note;
}

DeviceContext::DeviceContext(std::shared_ptr<const VerbsApi> api, Epoll& epoll,
                             AcquireOptions options)
    : api_(std::move(api)),
      options_(std::move(options)),
      device_(Open()),
      attributes_(QueryDevice()),
      gid_(CheckPort()),
      pd_(AllocatePd()),
      async_watch_(Watch(epoll, context()->async_fd, AcquireStep::kAsyncFlags,
                         AcquireStep::kAsyncRegistration)),
      channels_(CreateChannels(epoll)),
      data_cqs_(CreateQueues(options_.data_cqs, AcquireStep::kDataQueue)),
      notification_cqs_(CreateQueues(options_.notification_cqs, AcquireStep::kNotificationQueue)),
      speed_policy_(options_.name, options_.outside_speed),
      first_query_(FirstQuery()),
      pauses_(InitialPauses()) {}

void DeviceContext::Fail(AcquireStep step, int error, const std::string& note) const {
  throw AcquireError(step, error, options_.name, note);
}

DeviceContext::Opened DeviceContext::Open() const {
  int error = 0;
  const DeviceList list = DeviceList::Get(api_, &error);
  if (!list) {
    Fail(AcquireStep::kDeviceList, error);
  }
  ibv_device* device = Find(*api_, list, options_);
  if (device == nullptr) {
    Fail(AcquireStep::kFindDevice, ENODEV, "no such device");
  }
  Opened opened;
  opened.index = api_->get_device_index(device);
  opened.context = OpenDevice(api_, device, &error);
  if (!opened.context) {
    Fail(AcquireStep::kOpen, error);
  }
  return opened;
}

DeviceAttributes DeviceContext::QueryDevice() const {
  DeviceAttributes attributes;
  if (const int error = api_->query_device(context(), &attributes); error != 0) {
    Fail(AcquireStep::kQueryDevice, error);
  }
  return attributes;
}

std::optional<Gid> DeviceContext::CheckPort() const {
  const uint32_t port = options_.port;
  if (port == 0 && !options_.need_gid) {
    return std::nullopt;
  }
  if (port == 0 || port > attributes_.port_count) {
    Fail(AcquireStep::kPortNumber, EINVAL,
         "port " + std::to_string(port) + " is not in 1 to " +
             std::to_string(attributes_.port_count));
  }
  if (!options_.strict()) {
    return std::nullopt;
  }
  PortAttributes attributes;
  if (const int error = api_->query_port(context(), port, &attributes); error != 0) {
    Fail(AcquireStep::kQueryPort, error);
  }
  return options_.need_gid ? ChoosePortGid(attributes) : std::nullopt;
}

std::optional<Gid> DeviceContext::ChoosePortGid(const PortAttributes& attributes) const {
  const auto length = static_cast<uint32_t>(std::max(attributes.gid_table_length, 0));
  const GidTable table =
      ReadGidTable(*api_, context(), options_.port, length, attributes_.port_count);
  GidNetdev netdev;
  if (options_.gid_netdev) {
    netdev = [this](uint32_t index) { return options_.gid_netdev(options_.port, index); };
  }
  const GidChoice choice = ChooseGid(table, netdev, options_.gid_index);
  if (!choice.gid) {
    const bool range = choice.absence == GidAbsence::kIndexOutOfRange;
    Fail(AcquireStep::kGid,
         choice.error != 0 ? choice.error
         : range           ? EINVAL
                           : ENODATA,
         choice.Note());
  }
  return choice.gid;
}

PdHandle DeviceContext::AllocatePd() const {
  if (!options_.need_data_path) {
    return {};
  }
  int error = 0;
  PdHandle pd = AllocPd(api_, context(), &error);
  if (!pd) {
    Fail(AcquireStep::kProtectionDomain, error);
  }
  return pd;
}

EpollRegistration DeviceContext::Watch(Epoll& epoll, int fd, AcquireStep flags_step,
                                       AcquireStep registration_step) const {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    Fail(flags_step, errno);
  }
  EpollRegistration registration(epoll, fd, EPOLLIN | EPOLLET);
  if (!registration) {
    Fail(registration_step, errno);
  }
  return registration;
}

Stack<DeviceContext::Channel> DeviceContext::CreateChannels(Epoll& epoll) const {
  Stack<Channel> channels;
  const uint32_t count = options_.need_data_path ? options_.channels : 0;
  channels.Reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    int error = 0;
    Channel channel;
    channel.channel = CreateChannel(api_, context(), &error);
    if (!channel.channel) {
      Fail(AcquireStep::kChannel, error);
    }
    channel.watch = Watch(epoll, channel.channel.get()->fd, AcquireStep::kChannelFlags,
                          AcquireStep::kChannelRegistration);
    channels.Push(std::move(channel));
  }
  return channels;
}

Stack<CqHandle> DeviceContext::CreateQueues(uint32_t count, AcquireStep step) const {
  Stack<CqHandle> queues;
  if (!options_.need_data_path) {
    return queues;
  }
  // This device's own limit, and only for this device.
  const int cqes =
      attributes_.max_cqe > 0 ? std::min(options_.cqes, attributes_.max_cqe) : options_.cqes;
  const uint32_t vectors = std::max(attributes_.completion_vectors, 1U);
  queues.Reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    ibv_comp_channel* channel = channels_.empty() ? nullptr : this->channel(i % channels_.size());
    const int vector = static_cast<int>(i % vectors);
    int error = 0;
    CqHandle queue = CreateCq(api_, context(), cqes, channel, vector, &error);
    if (!queue) {
      Fail(step, error);
    }
    queues.Push(std::move(queue));
  }
  return queues;
}

PortReading DeviceContext::FirstQuery() {
  // After the subscription: what changes from here on comes as an event.
  PortReading reading;
  reading.error = ENOTCONN;
  if (options_.port != 0) {
    reading = Query(options_.port, options_.now);
    if (options_.strict() && reading.error != 0) {
      Fail(AcquireStep::kFinalQuery, reading.error);
    }
  }
  return reading;
}

PauseReasons DeviceContext::InitialPauses() const {
  PauseReasons pauses;
  if (options_.port == 0) {
    pauses.SetInert(true);
  } else if (first_query_.error == 0 && !first_query_.active()) {
    pauses.Set(PauseReason::kLink);
  }
  return pauses;
}

}  // namespace nicmon
