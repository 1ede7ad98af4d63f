#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// How often each of many keys may do something: so often a second in the long run, and so often
/// at once. Bounded: of more than 1024 keys those are forgotten that have used least. Thread-safe.
class Allowance {
 public:
  Allowance(double per_second, double at_once) : per_second_(per_second), at_once_(at_once) {}

  /// Uses one up. nullopt: there was one; else how long until there is one again.
  std::optional<Duration> Take(const std::string& key, SteadyTime now);
  /// The same without using one up.
  std::optional<Duration> Wait(const std::string& key, SteadyTime now);

 private:
  struct Bucket {
    double left;
    SteadyTime at;
  };
  Bucket& Find(const std::string& key, SteadyTime now);
  std::optional<Duration> Missing(const Bucket& bucket) const;

  const double per_second_;
  const double at_once_;
  std::mutex mutex_;  // guards buckets_
  std::map<std::string, Bucket> buckets_;
};

}  // namespace nicmon::http
