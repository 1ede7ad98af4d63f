#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "nicmon/verbs/link_speed.h"
#include "node.h"

// The layout is that of the kernel's: everything below the PCI device, links in class/.
namespace nicmon::sim {
namespace {

constexpr const char* kStateNames[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr const char* kPhysicalNames[] = {
    "<unknown>",         "Sleep",   "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
    "LinkErrorRecovery", "Phy Test"};

std::string PciDirectory(const Device& device) {
  return "devices/pci" + device.pci_address.substr(0, 7) + "/" + device.pci_address;
}
std::string IbDirectory(const Device& device) {
  return PciDirectory(device) + "/infiniband/" + device.name;
}
std::string PortDirectory(const Device& device, uint32_t number) {
  return IbDirectory(device) + "/ports/" + std::to_string(number);
}
std::string UverbsName(const Device& device) {
  return "uverbs" + std::to_string(device.current->node_number);
}

std::string GuidText(uint64_t guid) {
  char text[32];
  std::snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x\n",
                static_cast<unsigned>(guid >> 48 & 0xffff),
                static_cast<unsigned>(guid >> 32 & 0xffff),
                static_cast<unsigned>(guid >> 16 & 0xffff), static_cast<unsigned>(guid & 0xffff));
  return text;
}

std::string GidText(const ibv_gid& gid) {
  char text[48];
  size_t used = 0;
  for (size_t i = 0; i < 16; i += 2) {
    used += static_cast<size_t>(std::snprintf(text + used, sizeof(text) - used, "%s%02x%02x",
                                              i == 0 ? "" : ":", gid.raw[i], gid.raw[i + 1]));
  }
  return std::string(text, used) + "\n";
}

template <size_t N>
std::string StateText(int number, const char* const (&names)[N]) {
  const bool known = number >= 0 && static_cast<size_t>(number) < N;
  return std::to_string(number) + ": " + (known ? names[number] : "<unknown>") + "\n";
}

std::string HexText(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%x\n", value);
  return text;
}

// Width × lane speed in Mb/s, as the kernel computes `rate`: an unknown speed code counts as SDR,
// an unknown width makes the read fail.
std::optional<uint64_t> EncodedMbps(const PortAttributes& attributes, uint32_t* speed_code) {
  *speed_code =
      attributes.active_speed_ex != 0 ? attributes.active_speed_ex : attributes.active_speed;
  if (!LaneSpeedBps(*speed_code)) {
    *speed_code = 1;
  }
  const auto lanes = LaneCount(attributes.active_width);
  if (!lanes) {
    return std::nullopt;
  }
  return *LaneSpeedBps(*speed_code) / 1'000'000 * *lanes;
}

FileRead RateText(const PortAttributes& attributes) {
  uint32_t code = 0;
  const auto mbps = EncodedMbps(attributes, &code);
  if (!mbps) {
    return {EINVAL, ""};
  }
  std::string text = std::to_string(*mbps / 1000);
  if (*mbps % 1000 != 0) {
    text += "." + std::to_string(*mbps % 1000 / 100);
  }
  text += " Gb/sec (" + std::to_string(*LaneCount(attributes.active_width)) + "X " +
          std::string(LaneSpeedName(code)) + ")\n";
  return {0, text};
}

FileRead NetdevSpeed(const PortAttributes& attributes) {
  uint32_t code = 0;
  const auto mbps = EncodedMbps(attributes, &code);
  if (attributes.state != IBV_PORT_ACTIVE || !mbps) {
    return {0, "-1\n"};
  }
  return {0, std::to_string(*mbps) + "\n"};
}

void RenderPci(SysfsTree& tree, const Device& device) {
  const std::string pci = PciDirectory(device);
  const auto write = [&](const char* name, const std::string& text) {
    tree.Write(pci + "/" + name, device.slot, {0, text + "\n"});
  };
  write("vendor", "0x15b3");
  write("device", "0x1021");
  write("numa_node", std::to_string(device.numa_node));
  write("current_link_speed", "32.0 GT/s PCIe");
  write("current_link_width", "16");
  write("max_link_speed", "32.0 GT/s PCIe");
  write("max_link_width", "16");
  write("sriov_numvfs", "0");
  tree.Link(pci + "/driver", device.slot, "bus/pci/drivers/mlx5_core");
}

void RenderNetdev(SysfsTree& tree, const Device& device, uint32_t number, bool infiniband) {
  const std::string& netdev = device.ports[number - 1].netdev;
  const std::string directory = PciDirectory(device) + "/net/" + netdev;
  const std::string index = std::to_string(number - 1);
  tree.Write(directory + "/dev_port", device.slot, {0, index + "\n"});
  tree.Write(directory + "/dev_id", device.slot, {0, HexText(infiniband ? number - 1 : 0)});
  tree.Write(directory + "/type", device.slot, {0, infiniband ? "32\n" : "1\n"});
  tree.Link(directory + "/device", device.slot, PciDirectory(device));
  tree.Link("class/net/" + netdev, device.slot, directory);
}

}  // namespace

void Node::RenderDevice(const Device& device) {
  RenderPci(tree, device);
  const std::string ib = IbDirectory(device);
  const auto write = [&](const char* name, const std::string& text) {
    tree.Write(ib + "/" + name, device.slot, {0, text});
  };
  write("node_type", "1: CA\n");
  write("node_guid", GuidText(device.attributes.node_guid));
  write("sys_image_guid", GuidText(device.attributes.sys_image_guid));
  write("fw_ver", device.attributes.firmware_version + "\n");
  write("node_desc", "simulated " + device.name + "\n");
  write("board_id", "SIM0000000001\n");
  write("hca_type", "MT4129\n");
  write("hw_rev", "0\n");
  tree.Link(ib + "/device", device.slot, PciDirectory(device));
  tree.Link("class/infiniband/" + device.name, device.slot, ib);

  const std::string uverbs = PciDirectory(device) + "/infiniband_verbs/" + UverbsName(device);
  const std::string minor = std::to_string(192 + device.current->node_number);
  tree.Write(uverbs + "/ibdev", device.slot, {0, device.name + "\n"});
  tree.Write(uverbs + "/dev", device.slot, {0, "231:" + minor + "\n"});
  tree.Write(uverbs + "/abi_version", device.slot, {0, "1\n"});
  tree.Link(uverbs + "/device", device.slot, PciDirectory(device));
  tree.Link("class/infiniband_verbs/" + UverbsName(device), device.slot, uverbs);

  for (uint32_t number = 1; number <= device.ports.size(); ++number) {
    RenderNetdev(tree, device, number, spec.infiniband);
    RenderPort(device, number);
    RenderGids(device, number);
  }
}

void Node::RenderPort(const Device& device, uint32_t number) {
  const Port& port = device.ports[number - 1];
  const PortAttributes& attributes = port.attributes;
  const std::string directory = PortDirectory(device, number);
  const auto write = [&](const std::string& name, FileRead content) {
    tree.Write(directory + "/" + name, device.slot, std::move(content));
  };
  write("state", {0, StateText(attributes.state, kStateNames)});
  write("phys_state", {0, StateText(attributes.physical_state, kPhysicalNames)});
  write("rate", RateText(attributes));
  write("lid", {0, HexText(attributes.lid)});
  write("sm_lid", {0, HexText(attributes.sm_lid)});
  write("lid_mask_count", {0, "0\n"});
  write("sm_sl", {0, "0\n"});
  write("cap_mask", {0, "0x00010000\n"});
  write("link_layer",
        {0, attributes.link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand\n" : "Ethernet\n"});
  write("pkeys/0", {0, "0xffff\n"});
  for (const auto& [name, value] : port.counters) {
    write("counters/" + name, {0, std::to_string(value) + "\n"});
  }
  for (const auto& [name, value] : port.hw_counters) {
    write("hw_counters/" + name, {0, std::to_string(value) + "\n"});
  }
  write("hw_counters/lifespan", {0, "12\n"});

  const std::string netdev = PciDirectory(device) + "/net/" + port.netdev;
  const bool up = attributes.state == IBV_PORT_ACTIVE;
  tree.Write(netdev + "/speed", device.slot, NetdevSpeed(attributes));
  tree.Write(netdev + "/carrier", device.slot, {0, up ? "1\n" : "0\n"});
  tree.Write(netdev + "/carrier_changes", device.slot,
             {0, std::to_string(port.carrier_changes) + "\n"});
  tree.Write(netdev + "/operstate", device.slot, {0, up ? "up\n" : "down\n"});
}

void Node::RenderGids(const Device& device, uint32_t number) {
  const Port& port = device.ports[number - 1];
  const std::string directory = PortDirectory(device, number);
  const auto slots = static_cast<uint32_t>(port.attributes.gid_table_length);
  for (uint32_t index = 0; index < slots; ++index) {
    const std::string file = "/" + std::to_string(index);
    const auto entry = port.gids.find(index);
    const auto netdev = port.gid_netdevs.find(index);
    const bool used = entry != port.gids.end();
    tree.Write(directory + "/gids" + file, device.slot,
               {0, GidText(used ? entry->second.gid : ibv_gid{})});
    FileRead type{EINVAL, ""};
    if (used) {
      type = {0, entry->second.type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2\n" : "IB/RoCE v1\n"};
    }
    tree.Write(directory + "/gid_attrs/types" + file, device.slot, std::move(type));
    FileRead name{EINVAL, ""};
    if (used && netdev != port.gid_netdevs.end()) {
      name = {0, netdev->second + "\n"};
    }
    tree.Write(directory + "/gid_attrs/ndevs" + file, device.slot, std::move(name));
  }
}

void Node::RenderRename(const Device& device, const std::string& old_name) {
  tree.Remove("class/infiniband/" + old_name);
  tree.Rename(PciDirectory(device) + "/infiniband/" + old_name, device.name);
  tree.Link("class/infiniband/" + device.name, device.slot, IbDirectory(device));
  tree.Write(PciDirectory(device) + "/infiniband_verbs/" + UverbsName(device) + "/ibdev",
             device.slot, {0, device.name + "\n"});
}

void Node::UnrenderUverbs(const Device& device) {
  tree.Remove("class/infiniband_verbs/" + UverbsName(device));
  tree.Remove(PciDirectory(device) + "/infiniband_verbs");
}

// The PCI function stays, as after unbinding a driver; its netdevs go.
void Node::UnrenderDevice(const Device& device) {
  tree.Remove("class/infiniband/" + device.name);
  tree.Remove(PciDirectory(device) + "/infiniband");
  for (const Port& port : device.ports) {
    tree.Remove("class/net/" + port.netdev);
  }
  tree.Remove(PciDirectory(device) + "/net");
}

}  // namespace nicmon::sim
