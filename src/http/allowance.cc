#include "http/allowance.h"

#include <algorithm>

namespace nicmon::http {
namespace {

constexpr size_t kMaxKeys = 1024;

using Seconds = std::chrono::duration<double>;

}  // namespace

Allowance::Bucket& Allowance::Find(const std::string& key, SteadyTime now) {
  const auto refill = [&](Bucket& bucket) {
    bucket.left = std::min(at_once_, bucket.left + per_second_ * Seconds(now - bucket.at).count());
    bucket.at = now;
  };
  if (const auto found = buckets_.find(key); found != buckets_.end()) {
    refill(found->second);
    return found->second;
  }
  if (buckets_.size() >= kMaxKeys) {
    for (auto& [name, bucket] : buckets_) {
      refill(bucket);
    }
    std::erase_if(buckets_, [&](const auto& entry) { return entry.second.left >= at_once_; });
  }
  if (buckets_.size() >= kMaxKeys) {
    buckets_.erase(std::max_element(
        buckets_.begin(), buckets_.end(),
        [](const auto& a, const auto& b) { return a.second.left < b.second.left; }));
  }
  return buckets_.emplace(key, Bucket{at_once_, now}).first->second;
}

std::optional<Duration> Allowance::Missing(const Bucket& bucket) const {
  if (bucket.left >= 1) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<Duration>(Seconds((1 - bucket.left) / per_second_));
}

std::optional<Duration> Allowance::Take(const std::string& key, SteadyTime now) {
  std::lock_guard lock(mutex_);
  Bucket& bucket = Find(key, now);
  const auto missing = Missing(bucket);
  if (!missing) {
    bucket.left -= 1;
  }
  return missing;
}

std::optional<Duration> Allowance::Wait(const std::string& key, SteadyTime now) {
  std::lock_guard lock(mutex_);
  return Missing(Find(key, now));
}

}  // namespace nicmon::http
