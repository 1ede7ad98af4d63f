#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "http/event_source.h"
#include "http/http_test.h"

namespace nicmon::http {

/// A node of two devices whose stream says nothing by itself: no refresh, no comments.
class StreamTest : public HttpTest {
 protected:
  StreamTest() {
    first_ = node_.Add("mlx5_0", "0000:3b:00.0");
    node_.Add("mlx5_1", "0000:0a:00.0");
    options_.stream.refresh = std::chrono::hours(1);
    options_.stream.keep_alive = std::chrono::hours(1);
  }
  void StartAndListen() {
    Start();
    listener_ = server_->stream_listener();
  }
  static Transition Record(uint64_t seq, TransitionType type, const std::string& device = "mlx5_0",
                           uint32_t port = 1) {
    Transition event;
    event.seq = seq;
    event.type = type;
    event.device = device;
    event.port = port;
    return event;
  }
  void Tell(const std::vector<Transition>& records) { listener_(records); }
  void SetState(DeviceId id, int state) {
    node_.Change(id, [&](DeviceSnapshot& device) { device.ports[0].state = state; });
  }
  int Clients() { return stats_->Read().stream_clients; }

  DeviceId first_ = 0;
  std::function<void(std::span<const Transition>)> listener_;
};

}  // namespace nicmon::http
