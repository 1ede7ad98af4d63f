#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "nicmon/base/clock.h"
#include "nicmon/monitor/snapshot.h"

namespace nicmon {

enum class CommandKind {
  kRequery,  // ask the hardware about one port (`port`) or all of them (0)
  kPoke,     // holds or releases changed: look again
};

/// What a command did, for the reply.
struct CommandResult {
  enum class Code { kDone, kNotOpen, kUnknownPort, kStopping, kQueueFull };
  Code code = Code::kDone;
  int query_error = 0;  // errno of the query, 0 when the hardware answered
  Duration duration{0};
  std::shared_ptr<const DeviceSnapshot> before;
  std::shared_ptr<const DeviceSnapshot> after;
};

/// A command on its way between an HTTP thread and a device's thread, owned by both.
class Pending {
 public:
  enum class State { kQueued, kRunning, kDone, kAbandoned };

  Pending(CommandKind kind, uint32_t port) : kind_(kind), port_(port) {}

  CommandKind kind() const { return kind_; }
  uint32_t port() const { return port_; }  // 0: all ports

  /// Device thread: false when the caller gave up before it started; then it must not run.
  bool Start();
  void Finish(CommandResult result);
  /// Any thread: answers the caller with kStopping, also while the command runs and may never end.
  /// What Finish() brings afterwards is dropped.
  void Stop();

  /// HTTP thread: waits until done or `timeout`. kQueued at the deadline becomes kAbandoned.
  State Wait(Duration timeout, CommandResult* result);

 private:
  const CommandKind kind_;
  const uint32_t port_;
  std::mutex mutex_;  // guards state_ and result_
  std::condition_variable changed_;
  State state_ = State::kQueued;
  CommandResult result_;
};

}  // namespace nicmon
