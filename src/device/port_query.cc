#include "nicmon/device/port_query.h"

#include <cerrno>
#include <utility>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"
#include "nicmon/verbs/link_speed.h"

namespace nicmon {
namespace {

constexpr uint64_t kVerbUnit = 100'000'000;  // bits per second
constexpr Duration kOutsideInterval = std::chrono::seconds(30);

// What helper drivers on old kernels report for every Ethernet speed above 40 Gb/s.
constexpr uint64_t kSuspectBps = 100'000'000'000;

bool NotSupported(int error) {
  return error == ENOSYS || error == EOPNOTSUPP || error == EPROTONOSUPPORT || error == ENOTTY;
}

uint32_t SpeedCode(const PortAttributes& attributes) {
  return attributes.active_speed_ex != 0 ? attributes.active_speed_ex : attributes.active_speed;
}

}  // namespace

EncodedSpeed DecodeSpeed(const PortAttributes& attributes) {
  EncodedSpeed speed;
  const uint32_t code = SpeedCode(attributes);
  const std::optional<uint64_t> lane = LaneSpeedBps(code);
  speed.lanes = LaneCount(attributes.active_width);
  speed.lane_name = LaneSpeedName(code);
  if (lane && speed.lanes) {
    speed.bps = *lane * *speed.lanes;
  }
  return speed;
}

SpeedPolicy::SpeedPolicy(std::string device, OutsideSpeed outside)
    : device_(std::move(device)), outside_(std::move(outside)) {}

SpeedPolicy::VerbOutcome SpeedPolicy::AskVerb(const VerbsApi& api, ibv_context* context,
                                              uint32_t port, uint64_t* bps, int* error) {
  if (verb_absent_) {
    return VerbOutcome::kNothing;
  }
  uint64_t value = 0;
  int result = api.query_port_speed ? api.query_port_speed(context, port, &value) : ENOSYS;
  if (NotSupported(result)) {
    verb_absent_ = true;
    Refresh();  // what the verb would have known is now looked for outside
    log::Info("no speed verb, using the encoded speed",
              {{"device", device_}, {"error", ErrnoText(result)}});
    return VerbOutcome::kNothing;
  }
  if (result == 0 && value > UINT64_MAX / kVerbUnit) {
    result = ERANGE;
  }
  if (result != 0) {
    *error = result;
    return VerbOutcome::kFailed;
  }
  *bps = value * kVerbUnit;
  return value == 0 ? VerbOutcome::kNothing : VerbOutcome::kValue;
}

void SpeedPolicy::ReadOutside(Port& state, uint32_t port, bool suspect, SteadyTime now) {
  if (state.outside_read && now - state.outside_time < kOutsideInterval) {
    return;
  }
  state.outside_read = true;
  state.outside_time = now;
  state.bond = verb_absent_ && outside_.bond ? outside_.bond(port) : std::nullopt;
  state.netdev = suspect && outside_.netdev ? outside_.netdev(port) : std::nullopt;
}

std::optional<EffectiveSpeed> SpeedPolicy::WithoutVerb(Port& state, uint32_t port,
                                                       const PortAttributes& attributes,
                                                       SteadyTime now) {
  const std::optional<uint64_t> encoded = DecodeSpeed(attributes).bps;
  if (attributes.link_layer == IBV_LINK_LAYER_ETHERNET) {
    const bool suspect = encoded == kSuspectBps;
    ReadOutside(state, port, suspect, now);
    if (state.bond) {
      return EffectiveSpeed{*state.bond, SpeedSource::kBond};
    }
    if (suspect && state.netdev.value_or(0) > 0 && *state.netdev != kSuspectBps) {
      return EffectiveSpeed{*state.netdev, SpeedSource::kNetdev};
    }
  }
  return encoded ? std::optional(EffectiveSpeed{*encoded, SpeedSource::kEncoded}) : std::nullopt;
}

std::optional<EffectiveSpeed> SpeedPolicy::Resolve(const VerbsApi& api, ibv_context* context,
                                                   uint32_t port, const PortAttributes& attributes,
                                                   SteadyTime now, int* speed_error) {
  Port& state = ports_[port];
  const std::pair codes(SpeedCode(attributes), attributes.active_width);
  if (!state.active || state.codes != codes) {
    state.outside_read = false;
  }
  state.active = true;
  state.codes = codes;
  uint64_t bps = 0;
  switch (AskVerb(api, context, port, &bps, speed_error)) {
    case VerbOutcome::kFailed:
      break;  // or an error would lift a degraded LAG back to its encoded speed
    case VerbOutcome::kValue:
      state.last = EffectiveSpeed{bps, SpeedSource::kVerb};
      break;
    case VerbOutcome::kNothing:
      state.last = WithoutVerb(state, port, attributes, now);
      break;
  }
  return state.last;
}

void SpeedPolicy::Inactive(uint32_t port) {
  ports_[port].active = false;
}

void SpeedPolicy::Refresh() {
  for (auto& [port, state] : ports_) {
    state.outside_read = false;
  }
}

PortReading QueryPort(const VerbsApi& api, ibv_context* context, uint32_t port, SpeedPolicy& policy,
                      SteadyTime now) {
  PortReading reading;
  if (context == nullptr) {
    reading.error = ENOTCONN;
    return reading;
  }
  PortAttributes attributes;
  reading.error = api.query_port(context, port, &attributes);
  if (reading.error != 0) {
    return reading;
  }
  reading.attributes = attributes;
  if (!reading.active()) {
    policy.Inactive(port);
    return reading;
  }
  const EncodedSpeed encoded = DecodeSpeed(attributes);
  reading.nominal_bps = encoded.bps;
  reading.lanes = encoded.lanes;
  reading.lane_name = encoded.lane_name;
  reading.effective = policy.Resolve(api, context, port, attributes, now, &reading.speed_error);
  return reading;
}

}  // namespace nicmon
