#pragma once

#include "nicmon/device/probe_result.h"

namespace nicmon {

/// What became of a request for a probe.
struct ProbeOutcome {
  enum class Code {
    kDone,         // `result` is what it found, also when it failed
    kNotOpen,      // the device is not open, so nothing of it may be
    kUnknownPort,  // no such port, or no such device any more
    kNever,        // --data-path=never
    kBusy,         // another probe of this device runs
    kNoThread,     // the process may have no further one
    kTimedOut,     // it still runs and gives back what it holds when it ends
    kStopping,     // nicmon is
  };
  Code code = Code::kNotOpen;
  ProbeResult result;
};

}  // namespace nicmon
