#include <sys/eventfd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "calls.h"

namespace nicmon::sim {
namespace {

ibv_device** GetDeviceList(Node& node, int* count) {
  node.faults.Count(Verb::kGetDeviceList);
  Lock lock(node.mutex);
  if (const int error = node.faults.Enter(lock, Faults::kEveryDevice, Verb::kGetDeviceList)) {
    return Failed<ibv_device*>(error);
  }
  auto list = std::make_unique<DeviceEntries>();
  for (const auto& device : node.devices) {
    const std::shared_ptr<Registration>& current = device->current;
    if (current == nullptr || current->life != Registration::Life::kLive) {
      continue;
    }
    if (current->listed_name.empty()) {
      current->listed_name = current->name;
    }
    auto entry = std::make_unique<DeviceEntry>();
    entry->node_type = IBV_NODE_CA;
    entry->transport_type = IBV_TRANSPORT_IB;
    std::strncpy(entry->name, current->listed_name.c_str(), sizeof(entry->name) - 1);
    std::snprintf(entry->dev_name, sizeof(entry->dev_name), "uverbs%d", current->node_number);
    entry->registration = current;
    list->pointers.push_back(entry.get());
    list->entries.push_back(std::move(entry));
  }
  if (count != nullptr) {
    *count = static_cast<int>(list->entries.size());
  }
  list->pointers.push_back(nullptr);
  ibv_device** result = list->pointers.data();
  node.lists.emplace(result, std::move(list));
  return result;
}

void FreeDeviceList(Node& node, ibv_device** list) {
  node.faults.Count(Verb::kFreeDeviceList);
  Lock lock(node.mutex);
  node.faults.Enter(lock, Faults::kEveryDevice, Verb::kFreeDeviceList);
  if (node.lists.erase(list) == 0) {
    ++node.misuses;
  }
}

// A getter of a list entry: it cannot fail, but hang.
const Registration& Entry(Node& node, Lock& lock, ibv_device* device, Verb verb) {
  const Registration& registration = *static_cast<DeviceEntry*>(device)->registration;
  Begin(node, lock, registration, verb);
  return registration;
}

ibv_context* OpenDevice(Node& node, ibv_device* device) {
  const auto* entry = static_cast<const DeviceEntry*>(device);
  Registration& registration = *entry->registration;
  Lock lock;
  if (const int error = Begin(node, lock, registration, Verb::kOpenDevice)) {
    // A device that is gone has no node any more.
    return Failed<ibv_context>(registration.life == Registration::Life::kGone ? ENOENT : error);
  }
  if (registration.life != Registration::Life::kLive) {
    return Failed<ibv_context>(ENOENT);
  }
  UniqueFd async_fd(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  if (!async_fd) {
    return nullptr;
  }
  auto context = std::make_unique<Context>();
  context->entry = *entry;
  context->device = &context->entry;
  context->cmd_fd = -1;
  context->async_fd = async_fd.get();
  context->num_comp_vectors = static_cast<int>(registration.device->attributes.completion_vectors);
  context->async_fd_owner = std::move(async_fd);
  ++registration.open_contexts;
  ibv_context* result = context.get();
  node.contexts.emplace(result, std::move(context));
  return result;
}

int CloseDevice(Node& node, ibv_context* context) {
  node.faults.Count(Verb::kCloseDevice);
  Lock lock(node.mutex);
  const auto held = node.contexts.find(context);
  if (held == node.contexts.end()) {
    ++node.misuses;
    return EINVAL;
  }
  const std::shared_ptr<Registration> registration = held->second->entry.registration;
  if (const int error = node.faults.Enter(lock, registration->device->slot, Verb::kCloseDevice)) {
    return error;
  }
  // Looked up again: while the call hung, the map may have moved.
  const auto closing = node.contexts.find(context);
  node.closed_reads += closing->second->reads.load(std::memory_order_relaxed);
  node.closed_delivered += closing->second->delivered.load(std::memory_order_relaxed);
  node.contexts.erase(closing);
  node.ContextClosed(*registration);
  return 0;
}

int QueryDevice(Node& node, ibv_context* context, DeviceAttributes* out) {
  const Registration& registration = *ContextOf(context)->entry.registration;
  Lock lock;
  if (const int error = Begin(node, lock, registration, Verb::kQueryDevice)) {
    return error;
  }
  *out = registration.device->attributes;
  return 0;
}

// The port of a context; nullptr when there is none of that number. The node is locked.
const Port* FindPort(const Context& context, uint32_t number) {
  const std::vector<Port>& ports = context.entry.registration->device->ports;
  return number >= 1 && number <= ports.size() ? &ports[number - 1] : nullptr;
}

int QueryPort(Node& node, ibv_context* context, uint32_t number, PortAttributes* out) {
  Lock lock;
  if (const int error =
          Begin(node, lock, *ContextOf(context)->entry.registration, Verb::kQueryPort)) {
    return error;
  }
  const Port* port = FindPort(*ContextOf(context), number);
  if (port == nullptr) {
    return EINVAL;
  }
  *out = port->attributes;
  return 0;
}

int QueryPortSpeed(Node& node, ibv_context* context, uint32_t number, uint64_t* out) {
  Lock lock;
  if (const int error =
          Begin(node, lock, *ContextOf(context)->entry.registration, Verb::kQueryPortSpeed)) {
    return error;
  }
  const Port* port = FindPort(*ContextOf(context), number);
  if (port == nullptr) {
    return EINVAL;
  }
  *out = port->attributes.state == IBV_PORT_DOWN ? 0 : port->effective_100mbps;
  return 0;
}

int QueryGid(Node& node, ibv_context* context, uint32_t number, uint32_t index, GidEntry* out) {
  Lock lock;
  if (const int error =
          Begin(node, lock, *ContextOf(context)->entry.registration, Verb::kQueryGid)) {
    return error;
  }
  const Port* port = FindPort(*ContextOf(context), number);
  if (port == nullptr || index >= static_cast<uint32_t>(port->attributes.gid_table_length)) {
    return EINVAL;
  }
  const auto entry = port->gids.find(index);
  if (entry == port->gids.end()) {
    return ENODATA;
  }
  *out = entry->second;
  return 0;
}

int QueryGidTable(Node& node, ibv_context* context, size_t max_entries,
                  std::vector<GidEntry>* out) {
  const Registration& registration = *ContextOf(context)->entry.registration;
  Lock lock;
  if (const int error = Begin(node, lock, registration, Verb::kQueryGidTable)) {
    return error;
  }
  std::vector<GidEntry> all;
  for (const Port& port : registration.device->ports) {
    for (const auto& [index, entry] : port.gids) {
      all.push_back(entry);
    }
  }
  if (all.size() > max_entries) {
    return EINVAL;
  }
  *out = std::move(all);
  return 0;
}

void FillDataPath(const std::shared_ptr<Node>& node, VerbsApi* api) {
  api->reg_mr = [node](ibv_pd* pd, void* address, size_t length, int access) {
    return RegMr(*node, pd, address, length, access);
  };
  api->dereg_mr = [node](ibv_mr* mr) { return DeregMr(*node, mr); };
  api->create_qp = [node](ibv_pd* pd, ibv_qp_init_attr* attributes) {
    return CreateQp(*node, pd, attributes);
  };
  api->destroy_qp = [node](ibv_qp* qp) { return DestroyQp(*node, qp); };
  api->modify_qp = [node](ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
    return ModifyQp(*node, qp, attributes, mask);
  };
  api->post_send = [node](ibv_qp* qp, ibv_send_wr* request) {
    return PostSend(*node, qp, *request);
  };
  api->req_notify_cq = [node](ibv_cq* cq) { return ReqNotifyCq(*node, cq); };
  api->get_cq_event = [node](ibv_comp_channel* channel) { return GetCqEvent(*node, channel); };
  api->poll_cq = [node](ibv_cq* cq, ibv_wc* out) { return PollCq(*node, cq, out); };
}

}  // namespace

std::shared_ptr<const VerbsApi> MakeVerbs(std::shared_ptr<Node> node) {
  auto api = std::make_shared<VerbsApi>();
  api->get_device_list = [node](int* count) { return GetDeviceList(*node, count); };
  api->free_device_list = [node](ibv_device** list) { FreeDeviceList(*node, list); };
  api->get_device_index = [node](ibv_device* device) {
    Lock lock;
    return Entry(*node, lock, device, Verb::kGetDeviceIndex).index;
  };
  api->get_device_name = [node](ibv_device* device) {
    Lock lock;
    return Entry(*node, lock, device, Verb::kGetDeviceName).name;
  };
  api->get_device_guid = [node](ibv_device* device) {
    Lock lock;
    return Entry(*node, lock, device, Verb::kGetDeviceGuid).device->attributes.node_guid;
  };
  api->open_device = [node](ibv_device* device) { return OpenDevice(*node, device); };
  api->close_device = [node](ibv_context* context) { return CloseDevice(*node, context); };
  api->query_device = [node](ibv_context* context, DeviceAttributes* out) {
    return QueryDevice(*node, context, out);
  };
  api->query_port = [node](ibv_context* context, uint32_t port, PortAttributes* out) {
    return QueryPort(*node, context, port, out);
  };
  api->query_port_speed = [node](ibv_context* context, uint32_t port, uint64_t* out) {
    return QueryPortSpeed(*node, context, port, out);
  };
  api->query_gid = [node](ibv_context* context, uint32_t port, uint32_t index, GidEntry* out) {
    return QueryGid(*node, context, port, index, out);
  };
  api->query_gid_table = [node](ibv_context* context, size_t max_entries,
                                std::vector<GidEntry>* out) {
    return QueryGidTable(*node, context, max_entries, out);
  };
  api->get_async_event = [node](ibv_context* context, ibv_async_event* out) {
    return GetAsyncEvent(*node, context, out);
  };
  api->ack_async_event = [node](ibv_async_event*) { AckAsyncEvent(*node); };
  api->alloc_pd = [node](ibv_context* context) { return AllocPd(*node, context); };
  api->dealloc_pd = [node](ibv_pd* pd) { return DeallocPd(*node, pd); };
  api->create_comp_channel = [node](ibv_context* context) {
    return CreateCompChannel(*node, context);
  };
  api->destroy_comp_channel = [node](ibv_comp_channel* channel) {
    return DestroyCompChannel(*node, channel);
  };
  api->create_cq = [node](ibv_context* context, int cqe, ibv_comp_channel* channel, int vector) {
    return CreateCq(*node, context, cqe, channel, vector);
  };
  api->destroy_cq = [node](ibv_cq* cq) { return DestroyCq(*node, cq); };
  FillDataPath(node, api.get());
  api->library_version = "simulated";
  return api;
}

}  // namespace nicmon::sim
