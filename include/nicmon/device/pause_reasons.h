#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace nicmon {

/// Why a port does not serve although it may be up.
enum class PauseReason : uint8_t {
  kLink,      // the hardware says the link is not ACTIVE
  kAdmin,     // an operator holds the port
  kFatal,     // the device is gone or dead
  kSettling,  // recovered a moment ago
  kReleased,  // closed for maintenance
};
inline constexpr std::array kPauseReasons = {PauseReason::kLink, PauseReason::kAdmin,
                                             PauseReason::kFatal, PauseReason::kSettling,
                                             PauseReason::kReleased};

/// "link", "admin", "fatal", "settling", "released".
std::string_view PauseReasonName(PauseReason reason);

enum class PauseChange {
  kChanged,
  kAlready,
  kRejected,  // the slot is inert: no context, nothing to pause
};

/// A port's set of pause reasons: empty = ENABLED, non-empty = PAUSED, inert = no context. This set
/// is the port's only state; nothing else remembers whether it is paused.
class PauseReasons {
 public:
  PauseChange Set(PauseReason reason);
  PauseChange Clear(PauseReason reason);
  bool Has(PauseReason reason) const { return (bits_ & Bit(reason)) != 0; }
  bool paused() const { return bits_ != 0; }

  /// An inert slot rejects every change. Making it live again starts with no reason.
  void SetInert(bool inert);
  bool inert() const { return inert_; }

 private:
  static uint8_t Bit(PauseReason reason) {
    return static_cast<uint8_t>(1U << static_cast<uint8_t>(reason));
  }
  uint8_t bits_ = 0;
  bool inert_ = false;
};

}  // namespace nicmon
