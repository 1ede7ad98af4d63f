#include "nicmon/sysfs/stats_sampler.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string_view>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/limited_log.h"
#include "parse.h"
#include "stats_layout.h"

namespace nicmon {
namespace {

constexpr Duration kMaxBackoff = std::chrono::minutes(10);

/// Digits to the end of the only line.
std::optional<uint64_t> ParseCounter(std::string_view text) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  return sysfs_internal::ParseNumber(text);
}

/// A counter that the driver has a file for but not the hardware: "N/A (no PMA)".
bool IsNotAvailable(const FileRead& file) {
  return file.error == ENOENT || file.error == EOPNOTSUPP ||
         (file.error == 0 && file.text.starts_with("N/A"));
}

/// The value at which a field narrower than 64 bits sticks.
std::optional<uint64_t> Cap(const CounterRow* row) {
  if (row == nullptr || row->traits.bits >= 64) {
    return std::nullopt;
  }
  return (uint64_t{1} << row->traits.bits) - 1;
}

/// What the first bytes of a file are, for the log.
std::string Excerpt(const std::string& text) {
  constexpr size_t kLength = 40;
  return text.empty() ? "it is empty" : "it says " + log::Quoted(text.substr(0, kLength));
}

}  // namespace

StatsSampler::StatsSampler(const SysfsFiles& sysfs, Clock clock, StatsSamplerOptions options,
                           StatsHistory& history, RateLimit& log_limit)
    : clock_(std::move(clock)),
      options_(std::move(options)),
      history_(history),
      log_limit_(log_limit),
      next_slow_(clock_.steady()) {
  AddUnit(sysfs, 0);
  for (const uint32_t port : options_.ports) {
    AddUnit(sysfs, port);
  }
  OnTick();
}

void StatsSampler::AddUnit(const SysfsFiles& sysfs, uint32_t port) {
  const std::string device = sysfs_internal::DevicePath(options_.device);
  if (device.empty()) {
    return;
  }
  const std::string directory = port == 0 ? device : device + "/ports/" + std::to_string(port);
  StatsHistory::Unit& history = history_.units[port];
  Unit unit;
  unit.port = port;
  unit.resets = &history.resets;
  unit.sample.resets = history.resets;
  unit.layout = port == 0 ? sysfs_internal::DeviceLayout(sysfs, directory)
                          : sysfs_internal::PortLayout(sysfs, directory);
  if (port == 0 && unit.layout->files.empty()) {
    return;
  }
  unit.values.resize(unit.layout->files.size());
  for (size_t i = 0; i < unit.values.size(); ++i) {
    const StatsLayout::File& file = unit.layout->files[i];
    Source source;
    source.traffic = file.row != nullptr ? file.row->traits.traffic : Traffic::kNone;
    (source.traffic != Traffic::kNone ? fast_ : slow_).sources.push_back(sources_.size());
    source.path = directory + "/" + file.path;
    source.read = sysfs.keep(source.path);
    source.unit = units_.size();
    source.index = i;
    source.last = &history.last[file.path];
    source.row = file.row;
    source.cap = Cap(file.row);
    sources_.push_back(std::move(source));
  }
  units_.push_back(std::move(unit));
}

bool StatsSampler::any() const {
  return std::any_of(units_.begin(), units_.end(), [](const Unit& unit) {
    return unit.port != 0 && (unit.layout->counters || unit.layout->hw_counters);
  });
}

std::optional<StatsSample> StatsSampler::sample(uint32_t port) const {
  const auto unit = std::find_if(units_.begin(), units_.end(),
                                 [port](const Unit& each) { return each.port == port; });
  if (unit == units_.end() || unit->sample.round == nullptr) {
    return std::nullopt;
  }
  return unit->sample;
}

void StatsSampler::OnTick() {
  // One that is still under way is not begun anew: its last file would never have its turn.
  if (!fast_.running && !fast_.sources.empty()) {
    fast_.next = 0;
    fast_.running = true;
  }
}

SteadyTime StatsSampler::due() const {
  return fast_.running || slow_.running ? SteadyTime() : next_slow_;
}

void StatsSampler::StartSlow(SteadyTime now) {
  slow_.next = 0;
  slow_.running = true;
  if (!sampled_) {
    // Devices are opened together; from the second round on they take turns.
    const std::chrono::duration<double> gap = options_.interval * (1 - options_.phase);
    next_slow_ = now + std::max(options_.tick, std::chrono::duration_cast<Duration>(gap));
    return;
  }
  next_slow_ += options_.interval;
  if (next_slow_ <= now) {
    next_slow_ = now + options_.interval;  // a read hung: no burst of late rounds
  }
}

bool StatsSampler::Step(SteadyTime now) {
  if (!fast_.running && !slow_.running && now >= next_slow_) {
    StartSlow(now);
  }
  if (fast_.running) {
    return Advance(fast_, now);
  }
  return slow_.running && Advance(slow_, now);
}

bool StatsSampler::Advance(Round& round, SteadyTime now) {
  const size_t files = round.sources.size();
  while (round.next < files && sources_[round.sources[round.next]].not_before > now) {
    ++round.next;
  }
  const size_t end = files + (&round == &slow_ ? steps_.size() : 0);
  if (round.next < files) {
    ReadSource(sources_[round.sources[round.next++]], now);
  } else if (round.next < end) {
    round.next += steps_[round.next - files]() ? 0 : 1;
  }
  if (round.next < end) {
    return false;
  }
  round.running = false;
  if (&round == &slow_) {
    EndRound();
  }
  return sampled_.has_value();  // traffic alone: the first round of the others comes right after
}

void StatsSampler::EndRound() {
  sampled_ = clock_.steady();
  for (Unit& unit : units_) {
    unit.sample.round =
        std::make_shared<StatsRound>(StatsRound{unit.layout, unit.values, *sampled_});
  }
}

void StatsSampler::ReadSource(Source& source, SteadyTime now) {
  const FileRead file = source.read();
  std::optional<uint64_t> value;
  if (file.error == 0) {
    value = ParseCounter(file.text);
  }
  SetValue(source, value);
  if (value || IsNotAvailable(file)) {
    source.failures = 0;
    return;
  }
  Fail(source, file.error != 0 ? ErrnoText(file.error) : "not a number: " + Excerpt(file.text),
       now);
}

void StatsSampler::SetValue(Source& source, std::optional<uint64_t> value) {
  Unit& unit = units_[source.unit];
  std::optional<uint64_t>& shown = source.traffic == Traffic::kNone ? unit.values[source.index]
                                   : source.traffic == Traffic::kReceived ? unit.sample.received
                                                                          : unit.sample.transmitted;
  if (source.cap) {
    // Counted here, so that a tick does not have to look at all that it has not read.
    unit.sample.saturated += (value == source.cap ? 1 : 0) - (shown == source.cap ? 1 : 0);
  }
  shown = value;
  const bool lower = value && *source.last && *value < **source.last;
  if (lower && source.row != nullptr) {
    // Of what a driver has of its own, nobody knows that it never goes down.
    unit.sample.resets = ++*unit.resets;
  }
  if (value) {
    *source.last = value;
  }
  if (source.traffic != Traffic::kNone) {
    (source.traffic == Traffic::kReceived ? unit.sample.rx_bytes_per_second
                                          : unit.sample.tx_bytes_per_second) =
        Measure(source, value, lower);
  }
}

std::optional<double> StatsSampler::Measure(Source& source, std::optional<uint64_t> value,
                                            bool reset) {
  // Now, not when the read began: a read that hung gives what the hardware says at its end.
  const SteadyTime at = clock_.steady();
  std::optional<double> per_second;
  if (value && source.previous && !reset && (!source.cap || value != source.cap) &&
      at > source.previous_at) {
    const std::chrono::duration<double> elapsed = at - source.previous_at;
    const double bytes = static_cast<double>(*value - *source.previous) * source.row->traits.scale;
    per_second = bytes / elapsed.count();
  }
  source.previous = value;
  source.previous_at = at;
  return per_second;
}

void StatsSampler::Fail(Source& source, const std::string& why, SteadyTime now) {
  ++history_.read_errors;
  Duration wait = source.traffic != Traffic::kNone ? options_.tick : options_.interval;
  for (uint32_t i = 0; i < source.failures && wait < kMaxBackoff; ++i) {
    wait *= 2;
  }
  ++source.failures;
  // A little less, or the round that it is meant for would come a moment too early for it.
  source.not_before = now + std::min(wait, kMaxBackoff) - options_.tick / 2;
  if (source.failures == 1) {
    LogLimited(log_limit_, "counter file", now, log::Level::kWarning,
               "a counter file cannot be used, its value is left out",
               {{"device", options_.device},
                {"file", source.path},
                {"reason", why},
                {"remedy",
                 "cat the file: the driver answers so to everybody; if only nicmon gets "
                 "this, look at the permissions and mounts of its container"}});
  }
}

}  // namespace nicmon
