#include "http/passwords.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "http/text.h"

namespace nicmon::http {
namespace {

constexpr size_t kKept = 256;
constexpr int kMaxWaiting = 8;
constexpr auto kMaxWait = std::chrono::seconds(5);
constexpr uint64_t kMinCost = 4;
constexpr uint64_t kMaxCost = 15;    // some two seconds a check
constexpr size_t kHashSize = 60;     // "$2b$10$", 22 of salt, 31 of hash
constexpr size_t kSettingSize = 29;  // without the hash

uint64_t CostOf(const std::string& hash) {
  return ParseNumber(std::string_view(hash).substr(4, 2)).value_or(0);
}

/// The hash that takes longest: who does not exist is checked against that.
std::string Hardest(const Users& users) {
  const auto found = std::max_element(users.begin(), users.end(), [](const auto& a, const auto& b) {
    return CostOf(a.second) < CostOf(b.second);
  });
  return found == users.end() ? "" : found->second;
}

bool Bcrypt(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();
  const char* result =
      ::crypt_r(password.c_str(), hash.substr(0, kSettingSize).c_str(), data.get());
  const bool same = result != nullptr && std::string_view(result).size() == hash.size() &&
                    ::CRYPTO_memcmp(result, hash.data(), hash.size()) == 0;
  ::OPENSSL_cleanse(data.get(), sizeof(*data));
  return same;
}

}  // namespace

std::string HashProblem(const std::string& hash) {
  const std::string_view text = hash;
  const bool shape = text.size() == kHashSize && text[0] == '$' && text[1] == '2' &&
                     (text[2] == 'a' || text[2] == 'b' || text[2] == 'y') && text[3] == '$' &&
                     text[6] == '$';
  const bool letters = std::all_of(text.begin() + std::min<size_t>(text.size(), 7), text.end(),
                                   [](char c) { return IsAlnum(c) || c == '.' || c == '/'; });
  if (!shape || !letters || CostOf(hash) < kMinCost) {
    return "not a bcrypt hash, make one with htpasswd -nBC 10 \"\"";
  }
  return CostOf(hash) > kMaxCost ? "a cost above 15 takes seconds for each check, use 10 to 12"
                                 : "";
}

bool Passwords::Kept::Has(const Key& key) const {
  return std::any_of(keys.begin(), keys.end(), [&](const Key& one) {
    return ::CRYPTO_memcmp(one.data(), key.data(), key.size()) == 0;
  });
}

void Passwords::Kept::Add(const Key& key) {
  if (keys.size() >= kKept) {
    keys.pop_front();
  }
  keys.push_back(key);
}

Passwords::Passwords() {
  if (::RAND_bytes(secret_.data(), static_cast<int>(secret_.size())) != 1) {
    throw std::runtime_error("OpenSSL has no random numbers");
  }
}

Passwords::Key Passwords::KeyOf(const std::string& user, const std::string& hash,
                                const std::string& password) const {
  // Sizes in front: no two triples make the same text.
  const std::string text = std::to_string(user.size()) + ":" + user + std::to_string(hash.size()) +
                           ":" + hash + password;
  Key key{};
  unsigned int length = 0;
  ::HMAC(::EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), key.data(), &length);
  return key;
}

std::optional<Passwords::Result> Passwords::Find(const Key& key) const {
  if (right_.Has(key)) {
    return Result::kRight;
  }
  return wrong_.Has(key) ? std::optional(Result::kWrong) : std::nullopt;
}

std::optional<Passwords::Result> Passwords::Known(const Users& users, const std::string& user,
                                                  const std::string& password) {
  const auto found = users.find(user);
  const Key key = KeyOf(user, found == users.end() ? "" : found->second, password);
  std::lock_guard lock(mutex_);
  return Find(key);
}

Passwords::Result Passwords::Check(const Users& users, const std::string& user,
                                   const std::string& password) {
  const auto found = users.find(user);
  const bool exists = found != users.end();
  const std::string hash = exists ? found->second : Hardest(users);
  const Key key = KeyOf(user, exists ? hash : "", password);
  std::unique_lock lock(mutex_);
  if (waiting_ >= kMaxWaiting) {
    return Find(key).value_or(Result::kBusy);
  }
  ++waiting_;
  const bool turn = done_.wait_for(lock, kMaxWait, [this] { return !computing_; });
  --waiting_;
  // Somebody with the same password may have been before us.
  if (const auto known = Find(key)) {
    return *known;
  }
  if (!turn) {
    return Result::kBusy;
  }
  computing_ = true;
  lock.unlock();
  // A NUL would end what bcrypt sees of it.
  const bool same = password.find('\0') == std::string::npos && Bcrypt(password, hash);
  lock.lock();
  computing_ = false;
  done_.notify_all();  // one computes next, those whose answer is known by now go on too
  const bool right = exists && same;
  (right ? right_ : wrong_).Add(key);
  return right ? Result::kRight : Result::kWrong;
}

}  // namespace nicmon::http
