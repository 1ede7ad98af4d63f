#pragma once

#include "nicmon/base/clock.h"

namespace nicmon {

/// main()'s first statement. From here on SIGTERM and SIGINT end the process with 0, as PID 1 too
/// (which the kernel's default action would not): at once until HoldStopSignals(), through the
/// control loop after it. SIGPIPE and SIGXFSZ are ignored, SIGHUP waits for the control loop.
void PrepareSignals();

/// What ps and pgrep show, also where we were started through a dynamic loader of our own (as the
/// tarball does).
void NameProcess();

/// Makes SIGTERM and SIGINT wait for the control loop. Call before the first thread: threads
/// inherit the mask.
void HoldStopSignals();

/// Puts /dev/null where standard input, output or error are closed, so that no socket of ours ever
/// gets their numbers and with them what is meant for the log.
void OpenStandardStreams();

/// Raises the soft limit of open files to the hard one, within reason: every counter file that is
/// kept open saves two calls per reading, and a limit of 1,024 is for programs that use select().
void RaiseFileLimit();

/// Settings of glibc's allocator that suit few large, short-lived buffers (scrapes) beside many
/// threads that allocate little.
void TuneAllocator();

/// Ends the process with 0 after `delay` (at most some seconds), whatever hangs by then.
void ArmLastResort(Duration delay);

}  // namespace nicmon
