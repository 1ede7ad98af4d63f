#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nicmon/base/clock.h"
#include "nicmon/device/port_values.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// A speed in bits per second, and where it comes from.
struct EffectiveSpeed {
  uint64_t bps = 0;
  SpeedSource source = SpeedSource::kEncoded;
  friend bool operator==(const EffectiveSpeed&, const EffectiveSpeed&) = default;
};

/// What the speed and width codes of query_port say. Unknown codes give nullopt, never a guess.
struct EncodedSpeed {
  std::optional<uint64_t> bps;  // lanes × lane speed
  std::optional<uint32_t> lanes;
  std::string_view lane_name;  // "EDR", "" when unknown
};
EncodedSpeed DecodeSpeed(const PortAttributes& attributes);

/// Speeds that are known outside the verbs, in bits per second; nullopt where there is none.
/// Either function may be empty. They are asked when a port turns ACTIVE or its codes change, and
/// every 30 s: reading them takes the kernel's RTNL lock.
struct OutsideSpeed {
  std::function<std::optional<uint64_t>(uint32_t port)> netdev;
  std::function<std::optional<uint64_t>(uint32_t port)> bond;  // members that are up, added up
};

/// One port, asked once.
struct PortReading {
  int error = 0;              // errno of query_port; everything below is valid only when 0
  PortAttributes attributes;  // as the kernel gave them
  // Only while ACTIVE: the speeds of other ports are leftovers.
  std::optional<EffectiveSpeed> effective;
  std::optional<uint64_t> nominal_bps;
  std::optional<uint32_t> lanes;
  std::string lane_name;
  int speed_error = 0;  // errno of a speed verb that is there but failed; `effective` is then
                        // what it was before

  bool active() const { return error == 0 && attributes.state == IBV_PORT_ACTIVE; }
};

/// How one open context finds its ports' effective speed, and what it has to remember for that.
/// One per open context, used by the context's thread.
class SpeedPolicy {
 public:
  /// `device` is for the log line that says that there is no speed verb.
  explicit SpeedPolicy(std::string device, OutsideSpeed outside = {});

  /// The effective speed of a port that reads ACTIVE. Asks the speed verb where it is supported.
  /// Fills `speed_error` when it failed for now.
  std::optional<EffectiveSpeed> Resolve(const VerbsApi& api, ibv_context* context, uint32_t port,
                                        const PortAttributes& attributes, SteadyTime now,
                                        int* speed_error);

  /// Notes that a port does not read ACTIVE.
  void Inactive(uint32_t port);

  /// Has the outside speeds of all ports read again with the next query.
  void Refresh();

  /// Whether the speed verb was found not to be supported (decided once per open).
  bool verb_absent() const { return verb_absent_; }

 private:
  struct Port {
    bool active = false;
    std::pair<uint32_t, uint32_t> codes;  // of speed and width, at the last query
    std::optional<EffectiveSpeed> last;   // survives a link that was down for a while
    bool outside_read = false;
    SteadyTime outside_time{};
    std::optional<uint64_t> netdev, bond;
  };
  enum class VerbOutcome { kValue, kNothing, kFailed };

  VerbOutcome AskVerb(const VerbsApi& api, ibv_context* context, uint32_t port, uint64_t* bps,
                      int* error);
  std::optional<EffectiveSpeed> WithoutVerb(Port& state, uint32_t port,
                                            const PortAttributes& attributes, SteadyTime now);
  void ReadOutside(Port& state, uint32_t port, bool suspect, SteadyTime now);

  std::string device_;
  OutsideSpeed outside_;
  bool verb_absent_ = false;
  std::map<uint32_t, Port> ports_;
};

/// Asks the hardware about one port: one query_port, and a speed when it reads ACTIVE. With
/// `context` nullptr (an inert slot) the query is refused: ENOTCONN, no verb called, nothing noted.
PortReading QueryPort(const VerbsApi& api, ibv_context* context, uint32_t port, SpeedPolicy& policy,
                      SteadyTime now);

}  // namespace nicmon
