#include <endian.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "library.h"
#include "nicmon/base/unique_fd.h"
#include "nicmon/verbs/query_port.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {
namespace {

// Wraps a call whose result is a pointer: a failure always leaves an errno.
template <typename Function, typename... Arguments>
auto WithErrno(Function function, Arguments... arguments) {
  errno = 0;
  auto* result = function(arguments...);
  if (result == nullptr && errno == 0) {
    errno = EIO;
  }
  return result;
}

template <typename Function, typename... Arguments>
int AsErrno(Function function, Arguments... arguments) {
  errno = 0;
  return EvenOut(function(arguments...));
}

// Where libibverbs itself looks; not --sysfs-root, which may be another node's.
std::string DeviceName(const ibv_device* device) {
  std::ifstream file(std::string("/sys/class/infiniband_verbs/") + device->dev_name + "/ibdev");
  std::string name;
  return std::getline(file, name) && !name.empty() ? name : std::string(device->name);
}

// ibv_open_device waits 5 s for a device node that is missing or denied and then leaves an errno of
// no meaning. The node's own open tells both at once; on a healthy device it is cheap.
ibv_context* OpenDevice(const Library& library, ibv_device* device) {
  const std::string node = std::string("/dev/infiniband/") + device->dev_name;
  if (!UniqueFd(::open(node.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK))) {
    return nullptr;
  }
  return WithErrno(library.open_device, device);
}

void CopyDevice(const ibv_device_attr& from, DeviceAttributes* out) {
  out->firmware_version.assign(from.fw_ver, ::strnlen(from.fw_ver, sizeof(from.fw_ver)));
  out->node_guid = be64toh(from.node_guid);
  out->sys_image_guid = be64toh(from.sys_image_guid);
  out->port_count = from.phys_port_cnt;
  out->max_cqe = from.max_cqe;
}

int QueryDevice(const Library& library, ibv_context* context, DeviceAttributes* out) {
  DeviceAttributes result;
  result.completion_vectors = static_cast<uint32_t>(std::max(1, context->num_comp_vectors));
  if (const verbs_context* operations = verbs_get_ctx_op(context, query_device_ex)) {
    ibv_device_attr_ex attributes{};
    const int error = AsErrno(operations->query_device_ex, context,
                              static_cast<const ibv_query_device_ex_input*>(nullptr), &attributes,
                              sizeof(attributes));
    if (error == 0) {
      CopyDevice(attributes.orig_attr, &result);
      // phys_port_cnt has eight bits and stops at 255; 0 where the kernel lacks the wide one.
      result.port_count = std::max(result.port_count, attributes.phys_port_cnt_ex);
      *out = std::move(result);
      return 0;
    }
    if (error != EOPNOTSUPP && error != ENOSYS) {
      return error;
    }
  }
  ibv_device_attr attributes{};
  const int error = AsErrno(library.query_device, context, &attributes);
  if (error == 0) {
    CopyDevice(attributes, &result);
    *out = std::move(result);
  }
  return error;
}

GidEntry CopyGid(const ibv_gid_entry& from) {
  return {.gid = from.gid, .index = from.gid_index, .port = from.port_num, .type = from.gid_type};
}

int QueryGid(const Library& library, ibv_context* context, uint32_t port, uint32_t index,
             GidEntry* out) {
  if (library.query_gid_ex == nullptr) {
    return EOPNOTSUPP;
  }
  ibv_gid_entry entry{};
  const int error = AsErrno(library.query_gid_ex, context, port, index, &entry, 0u, sizeof(entry));
  if (error == 0) {
    *out = CopyGid(entry);
  }
  return error;
}

int QueryGidTable(const Library& library, ibv_context* context, size_t max_entries,
                  std::vector<GidEntry>* out) {
  if (library.query_gid_table == nullptr) {
    return EOPNOTSUPP;
  }
  std::vector<ibv_gid_entry> entries(max_entries);
  // A count, or a negative errno: -1 is EPERM here.
  const ssize_t count =
      library.query_gid_table(context, entries.data(), max_entries, 0, sizeof(ibv_gid_entry));
  if (count < 0) {
    return static_cast<int>(-count);
  }
  out->clear();
  out->reserve(static_cast<size_t>(count));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    out->push_back(CopyGid(entries[i]));
  }
  return 0;
}

// errno tells an empty queue from an error; a short read sets none.
int GetAsyncEvent(const Library& library, ibv_context* context, ibv_async_event* out) {
  errno = 0;
  if (library.get_async_event(context, out) == 0) {
    return 0;
  }
  return errno != 0 ? errno : EPROTO;
}

void FillDeviceCalls(const std::shared_ptr<const Library>& lib, VerbsApi* api) {
  api->get_device_list = [lib](int* count) { return WithErrno(lib->get_device_list, count); };
  api->free_device_list = [lib](ibv_device** list) { lib->free_device_list(list); };
  api->get_device_index = [lib](ibv_device* device) {
    return lib->get_device_index != nullptr ? lib->get_device_index(device) : -1;
  };
  api->get_device_name = DeviceName;
  api->get_device_guid = [lib](ibv_device* device) {
    return be64toh(lib->get_device_guid(device));
  };
  api->open_device = [lib](ibv_device* device) { return OpenDevice(*lib, device); };
  api->close_device = [lib](ibv_context* context) { return AsErrno(lib->close_device, context); };
}

void FillQueries(const std::shared_ptr<const Library>& lib, VerbsApi* api) {
  api->query_device = [lib](ibv_context* context, DeviceAttributes* out) {
    return QueryDevice(*lib, context, out);
  };
  api->query_port = [lib](ibv_context* context, uint32_t port, PortAttributes* out) {
    return QueryPortAttributes(context, port, lib->query_port, out);
  };
  if (lib->query_port_speed != nullptr) {
    api->query_port_speed = [lib](ibv_context* context, uint32_t port, uint64_t* out) {
      return AsErrno(lib->query_port_speed, context, port, out);
    };
  }
  api->query_gid = [lib](ibv_context* context, uint32_t port, uint32_t index, GidEntry* out) {
    return QueryGid(*lib, context, port, index, out);
  };
  api->query_gid_table = [lib](ibv_context* context, size_t max, std::vector<GidEntry>* out) {
    return QueryGidTable(*lib, context, max, out);
  };
}

void FillEventsAndObjects(const std::shared_ptr<const Library>& lib, VerbsApi* api) {
  api->get_async_event = [lib](ibv_context* context, ibv_async_event* out) {
    return GetAsyncEvent(*lib, context, out);
  };
  api->ack_async_event = [lib](ibv_async_event* event) { lib->ack_async_event(event); };
  api->alloc_pd = [lib](ibv_context* context) { return WithErrno(lib->alloc_pd, context); };
  api->dealloc_pd = [lib](ibv_pd* pd) { return AsErrno(lib->dealloc_pd, pd); };
  api->create_comp_channel = [lib](ibv_context* context) {
    return WithErrno(lib->create_comp_channel, context);
  };
  api->destroy_comp_channel = [lib](ibv_comp_channel* channel) {
    return AsErrno(lib->destroy_comp_channel, channel);
  };
  api->create_cq = [lib](ibv_context* context, int cqe, ibv_comp_channel* channel, int vector) {
    return WithErrno(lib->create_cq, context, cqe, static_cast<void*>(nullptr), channel, vector);
  };
  api->destroy_cq = [lib](ibv_cq* cq) { return AsErrno(lib->destroy_cq, cq); };
}

int GetCqEvent(const Library& library, ibv_comp_channel* channel) {
  ibv_cq* cq = nullptr;
  void* unused = nullptr;
  const int error = AsErrno(library.get_cq_event, channel, &cq, &unused);
  if (error == 0) {
    library.ack_cq_events(cq, 1);
  }
  return error;
}

int PollCq(ibv_cq* cq, ibv_wc* out) {
  const int count = cq->context->ops.poll_cq(cq, 1, out);
  return count > 0 ? 0 : count == 0 ? EAGAIN : EIO;
}

// What sends. post_send, poll_cq and req_notify_cq are no symbols: they go to the provider.
void FillDataPath(const std::shared_ptr<const Library>& lib, VerbsApi* api) {
  api->reg_mr = [lib](ibv_pd* pd, void* address, size_t length, int access) {
    return WithErrno(lib->reg_mr, pd, address, length, access);
  };
  api->dereg_mr = [lib](ibv_mr* mr) { return AsErrno(lib->dereg_mr, mr); };
  api->create_qp = [lib](ibv_pd* pd, ibv_qp_init_attr* attributes) {
    return WithErrno(lib->create_qp, pd, attributes);
  };
  api->destroy_qp = [lib](ibv_qp* qp) { return AsErrno(lib->destroy_qp, qp); };
  api->modify_qp = [lib](ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
    return AsErrno(lib->modify_qp, qp, attributes, mask);
  };
  api->post_send = [](ibv_qp* qp, ibv_send_wr* request) {
    ibv_send_wr* bad = nullptr;
    return AsErrno(qp->context->ops.post_send, qp, request, &bad);
  };
  api->req_notify_cq = [](ibv_cq* cq) { return AsErrno(cq->context->ops.req_notify_cq, cq, 0); };
  api->get_cq_event = [lib](ibv_comp_channel* channel) { return GetCqEvent(*lib, channel); };
  api->poll_cq = PollCq;
}

// An empty node: whoever looks again later finds the same, and that is no failure.
void FillAbsent(VerbsApi* api) {
  api->get_device_list = [](int*) -> ibv_device** {
    errno = ENOSYS;
    return nullptr;
  };
  api->free_device_list = [](ibv_device**) {};
}

}  // namespace

std::shared_ptr<const VerbsApi> RealVerbs(std::string* why_absent) {
  auto api = std::make_shared<VerbsApi>();
  std::string why;
  if (const auto library = LoadLibrary(&why)) {
    FillDeviceCalls(library, api.get());
    FillQueries(library, api.get());
    FillEventsAndObjects(library, api.get());
    FillDataPath(library, api.get());
    api->library_version = LibraryVersion(library->path);
  } else {
    FillAbsent(api.get());
  }
  if (why_absent != nullptr) {
    *why_absent = why;
  }
  return api;
}

}  // namespace nicmon
