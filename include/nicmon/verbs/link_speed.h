#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nicmon {

/// Nominal speed of one lane in bits per second for an active_speed code (1 SDR … 256 XDR);
/// nullopt for a code this table does not know: never a guess.
std::optional<uint64_t> LaneSpeedBps(uint32_t speed_code);

/// "SDR" … "XDR"; empty for an unknown code.
std::string_view LaneSpeedName(uint32_t speed_code);

/// Lanes of a width code (1→1, 2→4, 4→8, 8→12, 16→2).
std::optional<uint32_t> LaneCount(uint32_t width_code);

/// Bytes of an ibv_mtu code (1→256 … 5→4096).
std::optional<uint32_t> MtuBytes(int mtu_code);

}  // namespace nicmon
