#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "faults.h"
#include "nicmon/base/unique_fd.h"
#include "nicmon/sim/simulated_rnic.h"
#include "sysfs_tree.h"

namespace nicmon::sim {

struct Device;

/// One life of a device, from plug to unplug; what contexts and list entries refer to.
struct Registration {
  enum class Life {
    kLive,
    kRemoving,  // unplugged silently, waiting for the last close; verbs answer as before
    kGone       // unplugged; verbs give EIO
  };
  Device* device = nullptr;
  Life life = Life::kLive;
  int index = 0;        // the kernel's; never used twice
  int node_number = 0;  // uverbsN; the lowest free one
  int open_contexts = 0;
  std::string name;         // now, or when it went
  std::string listed_name;  // at its first listing
};

struct Port {
  PortAttributes attributes;
  uint64_t effective_100mbps = 0;
  std::string netdev;
  uint64_t carrier_changes = 0;       // of the netdev
  std::map<uint32_t, GidEntry> gids;  // by index
  std::map<uint32_t, std::string> gid_netdevs;
  std::map<std::string, uint64_t> counters;
  std::map<std::string, uint64_t> hw_counters;
};

/// A slot of the node, for its life: a device keeps its place while it is unplugged.
struct Device {
  int slot = 0;
  std::string name;
  std::string pci_address;
  int numa_node = 0;
  DeviceAttributes attributes;
  std::vector<Port> ports;  // [0] is port 1
  SimLoopback loopback = SimLoopback::kWorks;
  std::shared_ptr<Registration> current;  // nullptr while unplugged
};

/// An entry of a device list; an open context keeps a copy.
struct DeviceEntry : ibv_device {
  std::shared_ptr<Registration> registration;
};

struct DeviceEntries {
  std::vector<std::unique_ptr<DeviceEntry>> entries;
  std::vector<ibv_device*> pointers;  // NULL-terminated
};

/// Equal events that follow one another take one place in a queue.
struct QueuedEvents {
  int type = 0;
  int port = 0;
  uint64_t count = 0;
};

struct Context : ibv_context {
  DeviceEntry entry;
  UniqueFd async_fd_owner;
  std::mutex queue_mutex;  // guards queue; taken after the node's mutex, if that is held
  std::deque<QueuedEvents> queue;
  QueuedEvents reading;  // taken off the queue by the context's thread, which alone uses it
  // Written by the context's thread only, so without a locked instruction per event.
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> delivered{0};
};

struct Pd : ibv_pd {
  std::shared_ptr<Registration> registration;
};
struct Channel : ibv_comp_channel {
  std::shared_ptr<Registration> registration;
  UniqueFd fd_owner;
};
struct Cq : ibv_cq {
  std::shared_ptr<Registration> registration;
  std::deque<ibv_wc> completions;
  bool armed = false;
};
struct Mr : ibv_mr {
  std::shared_ptr<Registration> registration;
};
struct Qp : ibv_qp {
  std::shared_ptr<Registration> registration;
  uint32_t port = 0;         // from INIT on
  uint32_t destination = 0;  // number of the peer, from RTR on
};

/// The state of a simulated node. Everything but the event queues and the counters of calls is
/// guarded by `mutex`.
struct Node {
  explicit Node(const SimulationSpec& node_spec);

  Device* FindDevice(const std::string& name);
  Device& AddDevice(const std::string& name);
  void Plug(Device& device);
  void Unplug(Device& device, bool silent);
  void Rename(Device& device, const std::string& name);
  /// After a close: ends the removal that waited for it.
  void ContextClosed(Registration& registration);
  uint64_t Reads() const;      // calls of get_async_event
  uint64_t Delivered() const;  // events that it gave
  void Enqueue(Device& device, int type, int port, uint32_t count);
  /// Fresh link state and counters, GIDs untouched.
  void ResetPort(Device& device, uint32_t number);
  void SetDefaultGids(Device& device, uint32_t number);

  // render.cc: makes the tree agree with the state.
  void RenderDevice(const Device& device);
  void RenderPort(const Device& device, uint32_t number);
  void RenderGids(const Device& device, uint32_t number);
  void RenderRename(const Device& device, const std::string& old_name);
  void UnrenderUverbs(const Device& device);
  void UnrenderDevice(const Device& device);

  mutable std::mutex mutex;
  const SimulationSpec spec;
  SysfsTree tree;
  Faults faults;
  std::vector<std::unique_ptr<Device>> devices;
  int next_index = 0;
  std::unordered_map<ibv_device**, std::unique_ptr<DeviceEntries>> lists;
  std::unordered_map<ibv_context*, std::unique_ptr<Context>> contexts;
  std::unordered_map<ibv_pd*, std::unique_ptr<Pd>> pds;
  std::unordered_map<ibv_comp_channel*, std::unique_ptr<Channel>> channels;
  std::unordered_map<ibv_cq*, std::unique_ptr<Cq>> cqs;
  std::unordered_map<ibv_mr*, std::unique_ptr<Mr>> mrs;
  std::unordered_map<ibv_qp*, std::unique_ptr<Qp>> qps;
  uint32_t next_key = 1;      // of memory regions and queue pairs; never used twice
  uint64_t closed_reads = 0;  // of contexts that are closed
  uint64_t closed_delivered = 0;
  int misuses = 0;
};

/// Speed and width codes that give exactly this many Gb/s; nullopt when none do.
struct LinkCodes {
  uint32_t speed = 0;
  uint32_t width = 0;
};
std::optional<LinkCodes> CodesForSpeed(uint64_t gbps);

std::shared_ptr<const VerbsApi> MakeVerbs(std::shared_ptr<Node> node);
SysfsFiles MakeSysfs(std::shared_ptr<Node> node);
/// SimulatedRnic::Apply(), with the node's mutex held.
std::string ApplyCommand(Node& node, const SimCommand& command);

}  // namespace nicmon::sim
