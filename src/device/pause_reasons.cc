#include "nicmon/device/pause_reasons.h"

namespace nicmon {

std::string_view PauseReasonName(PauseReason reason) {
  switch (reason) {
    case PauseReason::kLink:
      return "link";
    case PauseReason::kAdmin:
      return "admin";
    case PauseReason::kFatal:
      return "fatal";
    case PauseReason::kSettling:
      return "settling";
    case PauseReason::kReleased:
      return "released";
  }
  return "";
}

PauseChange PauseReasons::Set(PauseReason reason) {
  if (inert_) {
    return PauseChange::kRejected;
  }
  if (Has(reason)) {
    return PauseChange::kAlready;
  }
  bits_ = static_cast<uint8_t>(bits_ | Bit(reason));
  return PauseChange::kChanged;
}

PauseChange PauseReasons::Clear(PauseReason reason) {
  if (inert_) {
    return PauseChange::kRejected;
  }
  if (!Has(reason)) {
    return PauseChange::kAlready;
  }
  bits_ = static_cast<uint8_t>(bits_ & ~Bit(reason));
  return PauseChange::kChanged;
}

void PauseReasons::SetInert(bool inert) {
  if (inert_ != inert) {
    inert_ = inert;
    bits_ = 0;
  }
}

}  // namespace nicmon
