#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nicmon {

/// The PCIe link of a device: a card in a slot too narrow, or a link that trained down, makes a
/// slow NIC. Unknown is nullopt: a virtual function says nothing of its link.
struct PcieLink {
  std::optional<double> speed, max_speed;    // transfers per second and lane: 32 GT/s is 32e9
  std::optional<uint32_t> width, max_width;  // lanes
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// Whether the link is slower or narrower than the device can do. What is unknown is not below.
bool BelowMaximum(const PcieLink& link);

/// For people: "32 GT/s x16", "16 GT/s x8 of 32 GT/s x16" when below its maximum; "" when nothing
/// of the link as it is now is known.
std::string PcieText(const PcieLink& link);

/// What the netdev of a port says besides its speed. Unknown is nullopt: no netdev, none visible
/// from here (another network namespace), or not a bond.
struct NetdevAttributes {
  std::optional<uint64_t> carrier_changes;
  std::optional<uint32_t> bond_members, bond_members_up;
  friend bool operator==(const NetdevAttributes&, const NetdevAttributes&) = default;
};

}  // namespace nicmon
