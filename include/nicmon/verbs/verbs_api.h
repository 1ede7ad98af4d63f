#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nicmon {

/// One port as query_port tells it. Codes are the kernel's; nothing is decoded or defaulted.
struct PortAttributes {
  int state = 0;                 // ibv_port_state
  int physical_state = 0;        // 1 sleep … 5 link up …
  uint32_t active_speed = 0;     // speed code per lane, clamped to NDR by the kernel
  uint32_t active_speed_ex = 0;  // true speed code, 0 where library or kernel lack it
  uint32_t active_width = 0;     // width code
  int active_mtu = 0;            // ibv_mtu code
  int max_mtu = 0;
  uint32_t lid = 0;
  uint32_t sm_lid = 0;
  int link_layer = 0;  // IBV_LINK_LAYER_*
  int gid_table_length = 0;
};

/// What query_device tells of the device's limits.
struct DeviceAttributes {
  std::string firmware_version;
  uint64_t node_guid = 0;  // host byte order; 0 = none
  uint64_t sys_image_guid = 0;
  uint32_t port_count = 0;
  uint32_t completion_vectors = 1;
  int max_cqe = 0;
};

/// One non-empty slot of a port's GID table.
struct GidEntry {
  ibv_gid gid{};
  uint32_t index = 0;
  uint32_t port = 0;
  uint32_t type = 0;  // ibv_gid_type: 0 IB, 1 RoCE v1, 2 RoCE v2
};

/// The one seam to the hardware: every verbs call nicmon makes, as a value.
///
/// RealVerbs() fills it from libibverbs.so.1, SimulatedRnic from a stateful fake. Conventions are
/// those of libibverbs, evened out: an int result is 0 or a positive errno; a pointer result is
/// nullptr with errno set. Calls for one context are made by one thread at a time; calls for
/// different contexts, and get_device_list, may run side by side.
///
/// An open context is read through its public fields only: `async_fd`, `num_comp_vectors`.
struct VerbsApi {
  /// NULL-terminated list, free_device_list() it. nullptr + ENOSYS: no RDMA in this kernel or no
  /// library. nullptr + anything else: unknown, ask again.
  std::function<ibv_device**(int* count)> get_device_list;
  std::function<void(ibv_device** list)> free_device_list;
  /// The kernel's index of the device, new after every registration; -1 where the kernel has none.
  std::function<int(ibv_device* device)> get_device_index;
  /// The name the device has now. `device->name` is not it: libibverbs keeps the entry of a device
  /// it has listed before, with the name from then, as long as node and index stay the same, so a
  /// rename shows up here only.
  std::function<std::string(ibv_device* device)> get_device_name;
  /// Node GUID in host byte order, 0 where there is none.
  std::function<uint64_t(ibv_device* device)> get_device_guid;

  /// nullptr with errno: EPERM or EACCES denied, ENOENT the device node is missing, else what
  /// failed.
  std::function<ibv_context*(ibv_device* device)> open_device;
  std::function<int(ibv_context* context)> close_device;

  std::function<int(ibv_context* context, DeviceAttributes* out)> query_device;
  std::function<int(ibv_context* context, uint32_t port, PortAttributes* out)> query_port;
  /// LAG-aware speed in units of 100 Mb/s. An empty function where the library has none.
  std::function<int(ibv_context* context, uint32_t port, uint64_t* out)> query_port_speed;
  /// ENODATA: the slot is empty.
  std::function<int(ibv_context* context, uint32_t port, uint32_t index, GidEntry* out)> query_gid;
  /// All non-empty slots of all ports of the device.
  std::function<int(ibv_context* context, size_t max_entries, std::vector<GidEntry>* out)>
      query_gid_table;

  /// 0, or an errno: EAGAIN when the queue is empty, EPROTO for a short read that set no errno.
  std::function<int(ibv_context* context, ibv_async_event* out)> get_async_event;
  std::function<void(ibv_async_event* event)> ack_async_event;

  std::function<ibv_pd*(ibv_context* context)> alloc_pd;
  std::function<int(ibv_pd* pd)> dealloc_pd;
  std::function<ibv_comp_channel*(ibv_context* context)> create_comp_channel;
  std::function<int(ibv_comp_channel* channel)> destroy_comp_channel;
  std::function<ibv_cq*(ibv_context* context, int cqe, ibv_comp_channel* channel, int vector)>
      create_cq;
  std::function<int(ibv_cq* cq)> destroy_cq;

  /// `access`: IBV_ACCESS_*. ENOMEM, EPERM or EAGAIN: more than RLIMIT_MEMLOCK lets be locked.
  std::function<ibv_mr*(ibv_pd* pd, void* address, size_t length, int access)> reg_mr;
  std::function<int(ibv_mr* mr)> dereg_mr;
  std::function<ibv_qp*(ibv_pd* pd, ibv_qp_init_attr* attributes)> create_qp;
  std::function<int(ibv_qp* qp)> destroy_qp;
  /// `mask`: IBV_QP_*, which of the attributes count.
  std::function<int(ibv_qp* qp, ibv_qp_attr* attributes, int mask)> modify_qp;
  std::function<int(ibv_qp* qp, ibv_send_wr* request)> post_send;
  /// Has the next completion make the queue's channel readable, once.
  std::function<int(ibv_cq* cq)> req_notify_cq;
  /// Takes one notification off a channel and acknowledges it. EAGAIN: there is none (the fd must
  /// be O_NONBLOCK).
  std::function<int(ibv_comp_channel* channel)> get_cq_event;
  /// Takes one completion. EAGAIN: there is none.
  std::function<int(ibv_cq* cq, ibv_wc* out)> poll_cq;

  /// "44.0", "unknown", or "" where there is no library.
  std::string library_version;
};

/// The table of the system's libibverbs.so.1, opened with dlopen. Never fails: without the library
/// get_device_list answers ENOSYS and `why_absent` (may be nullptr) says what dlopen said.
/// The library stays loaded for the life of the process.
std::shared_ptr<const VerbsApi> RealVerbs(std::string* why_absent);

}  // namespace nicmon
