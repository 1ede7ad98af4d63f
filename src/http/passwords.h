#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// bcrypt hashes by user name.
using Users = std::map<std::string, std::string>;

/// What is wrong with a bcrypt hash, in a few words; empty: nothing.
std::string HashProblem(const std::string& hash);

/// Checks of passwords against bcrypt hashes, which cost a tenth of a second of a core each. So
/// results are kept (under a keyed hash, the password is not), one check computes at a
/// time, a few wait for it, and the rest is turned away. Thread-safe.
class Passwords {
 public:
  enum class Result { kRight, kWrong, kBusy };

  Passwords();
  /// The result when it is known already.
  std::optional<Result> Known(const Users& users, const std::string& user,
                              const std::string& password);
  /// The result, computed where it is not known. A user that does not exist costs the same.
  Result Check(const Users& users, const std::string& user, const std::string& password);

 private:
  using Key = std::array<unsigned char, 32>;
  /// What was found out lately, oldest first. Kept apart, so that wrong guesses never push out who
  /// was right.
  struct Kept {
    std::deque<Key> keys;
    bool Has(const Key& key) const;
    void Add(const Key& key);
  };
  Key KeyOf(const std::string& user, const std::string& hash, const std::string& password) const;
  std::optional<Result> Find(const Key& key) const;

  Key secret_{};
  std::mutex mutex_;  // guards all below
  std::condition_variable done_;
  Kept right_, wrong_;
  bool computing_ = false;
  int waiting_ = 0;
};

}  // namespace nicmon::http
