#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "http/about.h"
#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"

namespace nicmon::http {

/// What one turn of the hub has to tell.
struct StreamTurn {
  std::vector<Transition> records;
  bool refresh = false;  // also look for what changed without a record
  bool resync = false;   // records were lost: begin anew with a snapshot
  uint64_t seq = 0;      // of the latest record
};

/// Turns records and views into server-sent events. Remembers what it told last. Used by one
/// thread.
class StreamDiffer {
 public:
  explicit StreamDiffer(About about) : about_(std::move(about)) {}

  /// The events that tell it all.
  std::vector<std::string> Events(const NodeView& view, const StreamTurn& turn);
  std::string Snapshot(const NodeView& view, uint64_t seq) const;

 private:
  using Port = std::pair<DeviceId, uint32_t>;

  bool Vanished(const NodeView& view) const;
  void Remember(const NodeView& view);
  void Tell(const NodeView& view, const std::vector<Transition>& records,
            std::vector<std::string>* out);
  void TellChanges(const NodeView& view, std::vector<std::string>* out);

  std::string TellHold(const Transition& event);
  void TellHolds(std::vector<std::string>* out);

  using Texts = std::map<std::string, std::string>;

  const About about_;
  std::string node_;  // json::Rendered::stable
  Texts holds_;       // by id, as they are in the view at hand
  Texts told_holds_;  // as the clients have them
  std::map<DeviceId, std::string> names_;
  std::map<DeviceId, std::string> devices_;  // json::Rendered::stable
  std::map<Port, std::string> ports_;
};

}  // namespace nicmon::http
