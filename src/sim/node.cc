#include "node.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "nicmon/verbs/link_speed.h"

namespace nicmon::sim {
namespace {

constexpr uint32_t kNdr = 128;  // active_speed does not go beyond
constexpr int kGidTableLength = 16;
constexpr uint64_t kGuidBase = 0x0c42a10300650000;

std::string Hex(uint32_t value, int digits) {
  char text[16];
  std::snprintf(text, sizeof(text), "%0*x", digits, value);
  return text;
}

uint32_t GlobalPort(const Device& device, uint32_t number) {
  return static_cast<uint32_t>(device.slot) * static_cast<uint32_t>(device.ports.size()) + number -
         1;
}

GidEntry MakeGid(uint32_t index, uint32_t port, uint32_t type, std::array<uint8_t, 16> bytes) {
  GidEntry entry;
  entry.index = index;
  entry.port = port;
  entry.type = type;
  std::memcpy(entry.gid.raw, bytes.data(), bytes.size());
  return entry;
}

std::array<uint8_t, 16> LinkLocal(uint64_t interface_id) {
  std::array<uint8_t, 16> bytes = {0xfe, 0x80};
  for (size_t i = 0; i < 8; ++i) {
    bytes[15 - i] = static_cast<uint8_t>(interface_id >> (8 * i));
  }
  return bytes;
}

/// Those of mlx5.
void FillCounters(Port& port) {
  for (const char* name : {"VL15_dropped",
                           "excessive_buffer_overrun_errors",
                           "link_downed",
                           "link_error_recovery",
                           "local_link_integrity_errors",
                           "multicast_rcv_packets",
                           "multicast_xmit_packets",
                           "port_rcv_constraint_errors",
                           "port_rcv_data",
                           "port_rcv_errors",
                           "port_rcv_packets",
                           "port_rcv_remote_physical_errors",
                           "port_rcv_switch_relay_errors",
                           "port_xmit_constraint_errors",
                           "port_xmit_data",
                           "port_xmit_discards",
                           "port_xmit_packets",
                           "port_xmit_wait",
                           "symbol_error",
                           "unicast_rcv_packets",
                           "unicast_xmit_packets"}) {
    port.counters[name] = 0;
  }
  for (const char* name : {"duplicate_request",
                           "implied_nak_seq_err",
                           "local_ack_timeout_err",
                           "np_cnp_sent",
                           "np_ecn_marked_roce_packets",
                           "out_of_buffer",
                           "out_of_sequence",
                           "packet_seq_err",
                           "req_cqe_error",
                           "req_cqe_flush_error",
                           "req_remote_access_errors",
                           "req_remote_invalid_request",
                           "req_rnr_retries_exceeded",
                           "req_transport_retries_exceeded",
                           "resp_cqe_error",
                           "resp_cqe_flush_error",
                           "resp_local_length_error",
                           "resp_remote_access_errors",
                           "rnr_nak_retry_err",
                           "roce_adp_retrans",
                           "roce_adp_retrans_to",
                           "roce_slow_restart",
                           "roce_slow_restart_cnps",
                           "roce_slow_restart_trans",
                           "rp_cnp_handled",
                           "rp_cnp_ignored",
                           "rx_atomic_requests",
                           "rx_dct_connect",
                           "rx_icrc_encapsulated",
                           "rx_read_requests",
                           "rx_write_requests"}) {
    port.hw_counters[name] = 0;
  }
}

}  // namespace

std::optional<LinkCodes> CodesForSpeed(uint64_t gbps) {
  // Four lanes first, as most cables have; 10 of both QDR and FDR10 is the first found, QDR.
  for (const uint32_t width : {2u, 1u, 16u, 4u, 8u}) {
    for (uint32_t speed = 1; speed <= 256; speed *= 2) {
      if (*LaneSpeedBps(speed) * *LaneCount(width) == gbps * 1'000'000'000) {
        return LinkCodes{speed, width};
      }
    }
  }
  return std::nullopt;
}

Node::Node(const SimulationSpec& node_spec) : spec(node_spec) {
  if (spec.ports == 0 || spec.ports > 255 || !CodesForSpeed(spec.speed_gbps)) {
    throw std::invalid_argument("simulated ports or speed out of range");
  }
  tree.MakeDirectory("class/infiniband", SysfsTree::kNoOwner);
  tree.MakeDirectory("class/infiniband_verbs", SysfsTree::kNoOwner);
  tree.MakeDirectory("class/net", SysfsTree::kNoOwner);
  tree.MakeDirectory("bus/pci/drivers/mlx5_core", SysfsTree::kNoOwner);
  tree.Write("class/infiniband_verbs/abi_version", SysfsTree::kNoOwner, {0, "6\n"});
  for (const std::string& name : spec.names) {
    if (name.empty() || name.size() >= IBV_SYSFS_NAME_MAX || FindDevice(name) != nullptr) {
      throw std::invalid_argument("simulated device name empty, too long or given twice");
    }
    Plug(AddDevice(name));
  }
}

Device* Node::FindDevice(const std::string& name) {
  for (const auto& device : devices) {
    if (device->name == name) {
      return device.get();
    }
  }
  return nullptr;
}

Device& Node::AddDevice(const std::string& name) {
  auto device = std::make_unique<Device>();
  device->slot = static_cast<int>(devices.size());
  device->name = name;
  const auto slot = static_cast<uint32_t>(device->slot);
  device->pci_address = Hex(slot / 255, 4) + ":" + Hex(slot % 255 + 1, 2) + ":00.0";
  // The first half of the devices that the node starts with on NUMA node 0, the rest on 1.
  device->numa_node = 2 * (slot + 1) > spec.names.size() + 1 ? 1 : 0;
  device->attributes.firmware_version = "28.42.1000";
  device->attributes.node_guid = kGuidBase + (static_cast<uint64_t>(slot) << 8);
  device->attributes.sys_image_guid = device->attributes.node_guid;
  device->attributes.port_count = spec.ports;
  device->attributes.completion_vectors = 4;
  device->attributes.max_cqe = 4'194'303;
  device->ports.resize(spec.ports);
  for (uint32_t number = 1; number <= spec.ports; ++number) {
    device->ports[number - 1].netdev =
        (spec.infiniband ? "ib" : "eth") + std::to_string(GlobalPort(*device, number));
    SetDefaultGids(*device, number);
  }
  devices.push_back(std::move(device));
  return *devices.back();
}

void Node::ResetPort(Device& device, uint32_t number) {
  Port& port = device.ports[number - 1];
  const LinkCodes codes = *CodesForSpeed(spec.speed_gbps);
  port.attributes = {};
  port.attributes.state = IBV_PORT_ACTIVE;
  port.attributes.physical_state = 5;
  port.attributes.active_speed = std::min(codes.speed, kNdr);
  port.attributes.active_speed_ex = codes.speed;
  port.attributes.active_width = codes.width;
  port.attributes.active_mtu = IBV_MTU_4096;
  port.attributes.max_mtu = IBV_MTU_4096;
  port.attributes.link_layer =
      spec.infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  port.attributes.gid_table_length = kGidTableLength;
  if (spec.infiniband) {
    port.attributes.lid = GlobalPort(device, number) + 2;
    port.attributes.sm_lid = 1;
  }
  port.effective_100mbps = spec.speed_gbps * 10;
  port.carrier_changes = 1;  // a new netdev whose carrier came
  port.counters.clear();
  port.hw_counters.clear();
  FillCounters(port);
}

// RoCE as mlx5 fills it: link-local and an IPv4 address, each as v1 and v2. InfiniBand has one.
void Node::SetDefaultGids(Device& device, uint32_t number) {
  Port& port = device.ports[number - 1];
  const std::array<uint8_t, 16> link_local =
      LinkLocal(device.attributes.node_guid + (number - 1) + 1);
  if (spec.infiniband) {
    port.gids[0] = MakeGid(0, number, IBV_GID_TYPE_IB, link_local);
    return;
  }
  const uint32_t host = GlobalPort(device, number) + 1;
  const std::array<uint8_t, 16> mapped = {0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0xff,
                                          0xff,
                                          10,
                                          1,
                                          static_cast<uint8_t>(host >> 8),
                                          static_cast<uint8_t>(host)};
  port.gids[0] = MakeGid(0, number, IBV_GID_TYPE_ROCE_V1, link_local);
  port.gids[1] = MakeGid(1, number, IBV_GID_TYPE_ROCE_V2, link_local);
  port.gids[2] = MakeGid(2, number, IBV_GID_TYPE_ROCE_V1, mapped);
  port.gids[3] = MakeGid(3, number, IBV_GID_TYPE_ROCE_V2, mapped);
  for (uint32_t index = 0; index < 4; ++index) {
    port.gid_netdevs[index] = port.netdev;
  }
}

void Node::Plug(Device& device) {
  auto registration = std::make_shared<Registration>();
  registration->device = &device;
  registration->index = next_index++;
  registration->name = device.name;
  const auto taken = [this](int number) {
    return std::any_of(devices.begin(), devices.end(), [&](const auto& other) {
      return other->current != nullptr && other->current->life == Registration::Life::kLive &&
             other->current->node_number == number;
    });
  };
  while (taken(registration->node_number)) {
    ++registration->node_number;
  }
  device.current = std::move(registration);
  for (uint32_t number = 1; number <= device.ports.size(); ++number) {
    ResetPort(device, number);
  }
  RenderDevice(device);
}

void Node::Unplug(Device& device, bool silent) {
  UnrenderUverbs(device);
  if (silent && device.current->open_contexts > 0) {
    device.current->life = Registration::Life::kRemoving;
    return;
  }
  if (!silent) {
    Enqueue(device, IBV_EVENT_DEVICE_FATAL, 0, 1);
  }
  device.current->life = Registration::Life::kGone;
  UnrenderDevice(device);
  device.current.reset();
}

void Node::Rename(Device& device, const std::string& name) {
  const std::string old_name = device.name;
  device.name = name;
  device.current->name = name;
  RenderRename(device, old_name);
}

void Node::ContextClosed(Registration& registration) {
  --registration.open_contexts;
  if (registration.life == Registration::Life::kRemoving && registration.open_contexts == 0) {
    registration.life = Registration::Life::kGone;
    Device& device = *registration.device;
    UnrenderDevice(device);
    device.current.reset();  // the closing context still holds `registration`
    faults.changed().notify_all();
  }
}

void Node::Enqueue(Device& device, int type, int port, uint32_t count) {
  for (const auto& [key, context] : contexts) {
    if (context->entry.registration != device.current) {
      continue;
    }
    {
      std::lock_guard lock(context->queue_mutex);
      std::deque<QueuedEvents>& queue = context->queue;
      if (!queue.empty() && queue.back().type == type && queue.back().port == port) {
        queue.back().count += count;
      } else {
        queue.push_back({type, port, count});
      }
    }
    // After the queue, so that whoever reads one from the fd finds an event.
    const uint64_t tokens = count;
    if (::write(context->async_fd_owner.get(), &tokens, sizeof(tokens)) != sizeof(tokens)) {
      ++misuses;  // only when somebody closed our fd
    }
  }
}

}  // namespace nicmon::sim
