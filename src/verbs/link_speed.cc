#include "nicmon/verbs/link_speed.h"

#include <array>

namespace nicmon {
namespace {

struct LaneSpeed {
  uint32_t code;
  uint64_t mbps;  // nominal, as the kernel and the vendors name it
  std::string_view name;
};

constexpr std::array<LaneSpeed, 9> kLaneSpeeds = {{
    {1, 2'500, "SDR"},
    {2, 5'000, "DDR"},
    {4, 10'000, "QDR"},
    {8, 10'000, "FDR10"},
    {16, 14'000, "FDR"},
    {32, 25'000, "EDR"},
    {64, 50'000, "HDR"},
    {128, 100'000, "NDR"},
    {256, 200'000, "XDR"},
}};

// The codes are bits, but used as values: a sum of two is no speed.
const LaneSpeed* Find(uint32_t code) {
  for (const LaneSpeed& row : kLaneSpeeds) {
    if (row.code == code) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<uint64_t> LaneSpeedBps(uint32_t speed_code) {
  const LaneSpeed* row = Find(speed_code);
  return row != nullptr ? std::optional(row->mbps * 1'000'000) : std::nullopt;
}

std::string_view LaneSpeedName(uint32_t speed_code) {
  const LaneSpeed* row = Find(speed_code);
  return row != nullptr ? row->name : std::string_view();
}

std::optional<uint32_t> LaneCount(uint32_t width_code) {
  switch (width_code) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return std::nullopt;
  }
}

std::optional<uint32_t> MtuBytes(int mtu_code) {
  if (mtu_code < 1 || mtu_code > 5) {
    return std::nullopt;
  }
  return 128u << mtu_code;
}

}  // namespace nicmon
