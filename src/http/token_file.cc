#include "http/token_file.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cerrno>
#include <stdexcept>

#include "http/text.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::http {
namespace {

constexpr auto kPollInterval = std::chrono::seconds(1);
constexpr size_t kMaxFileBytes = 1024 * 1024;

bool SameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool IsName(std::string_view name) {
  for (const char c : name) {
    if (!IsAlnum(c) && c != '-' && c != '_' && c != '.' && c != '@') {
      return false;
    }
  }
  return !name.empty() && name.size() <= 64;
}

/// "sha512:…", "SHA256:…", "md5:…": taken for a token it would be one that nobody has.
bool IsOtherDigest(std::string_view token) {
  const size_t colon = token.find(':');
  const std::string scheme = Lower(token.substr(0, colon));
  const bool sha = scheme.size() > 3 && scheme.rfind("sha", 0) == 0 && IsDigit(scheme[3]);
  return colon != std::string_view::npos && (sha || scheme == "md5") &&
         token.rfind("sha256:", 0) != 0;
}

}  // namespace

bool TokenFile::Signature::operator==(const Signature& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         SameTime(modified, other.modified) && SameTime(changed, other.changed);
}

TokenFile::Digest TokenFile::Hash(std::string_view token) {
  Digest digest{};
  unsigned int length = 0;
  ::EVP_Digest(token.data(), token.size(), digest.data(), &length, ::EVP_sha256(), nullptr);
  return digest;
}

TokenFile::Signature TokenFile::SignatureOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

std::string TokenFile::ParseLine(std::string_view line, std::vector<Entry>* entries) {
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  line = Trim(line);
  if (line.empty() || line.front() == '#') {
    return "";
  }
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !IsName(name)) {
    return "expected name:token or name:sha256:HEX";
  }
  const std::string_view token = line.substr(colon + 1);
  if (token.empty() || token.find_first_of(" \t") != std::string_view::npos || HasControl(token)) {
    return "the token is empty or has blanks in it";
  }
  Entry entry{std::string(name), {}};
  if (IsOtherDigest(token)) {
    return "of the digests only sha256 is known";
  }
  if (token.rfind("sha256:", 0) != 0) {
    entry.digest = Hash(token);
    entries->push_back(std::move(entry));
    return "";
  }
  const std::string_view hex = token.substr(7);
  if (hex.size() != 64) {
    return "sha256: wants 64 hex digits";
  }
  for (size_t i = 0; i < hex.size(); i += 2) {
    entry.digest[i / 2] = 0;
    for (const char c : {hex[i], hex[i + 1]}) {
      const char lower = static_cast<char>(c | 0x20);
      const bool letter = lower >= 'a' && lower <= 'f';
      if (!IsDigit(c) && !letter) {
        return "sha256: wants 64 hex digits";
      }
      entry.digest[i / 2] = static_cast<unsigned char>(entry.digest[i / 2] * 16 +
                                                       (letter ? lower - 'a' + 10 : c - '0'));
    }
  }
  entries->push_back(std::move(entry));
  return "";
}

std::string TokenFile::ReadFile(const std::string& path, std::vector<Entry>* entries,
                                Signature* signature) {
  struct stat status {};
  // Of a file that cannot be opened too: it is complained about once, not at every look.
  *signature = ::stat(path.c_str(), &status) == 0 ? SignatureOf(status) : Signature{};
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return ErrnoText(errno);
  }
  // Before the read: a change under way gives another signature next time.
  *signature = SignatureOf(status);
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t n = 0;
  while ((n = ::read(fd.get(), chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<size_t>(n));
    if (text.size() > kMaxFileBytes) {
      return "the file is larger than 1 MiB";
    }
  }
  if (n < 0) {
    return ErrnoText(errno);
  }
  size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (const std::string error = ParseLine(line, entries); !error.empty()) {
      return "line " + std::to_string(number) + ": " + error;
    }
  }
  return entries->empty() ? "there is no token in it: add one (name:token), or leave out "
                            "--admin-token-file"
                          : "";
}

std::string TokenFile::Problem(const std::string& path) {
  std::vector<Entry> entries;
  Signature signature;
  return ReadFile(path, &entries, &signature);
}

TokenFile::TokenFile(std::string path, Clock clock)
    : path_(std::move(path)), clock_(std::move(clock)) {
  if (const std::string error = ReadFile(path_, &entries_, &signature_); !error.empty()) {
    throw std::runtime_error("cannot use the admin token file " + path_ + ": " + error);
  }
  next_poll_ = clock_.steady() + kPollInterval;
}

std::optional<std::string> TokenFile::Check(std::string_view token) {
  const Digest digest = Hash(token);
  std::optional<std::string> name;
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (::CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) {
      name = entry.name;  // no early end
    }
  }
  return name;
}

void TokenFile::Apply() {
  std::vector<Entry> entries;
  Signature signature;
  const std::string error = ReadFile(path_, &entries, &signature);
  std::lock_guard lock(mutex_);
  signature_ = signature;
  ok_ = error.empty();
  if (!error.empty()) {
    log::Warning("admin token file not taken, the last good one stays",
                 {{"file", path_}, {"error", error}});
    return;
  }
  entries_ = std::move(entries);
  log::Info("admin token file read",
            {{"file", path_}, {"tokens", std::to_string(entries_.size())}});
}

void TokenFile::Reload() {
  Apply();
}

bool TokenFile::Poll() {
  {
    std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady();
    if (now < next_poll_) {
      return false;
    }
    next_poll_ = now + kPollInterval;
  }
  struct stat status {};
  const Signature now = ::stat(path_.c_str(), &status) == 0 ? SignatureOf(status) : Signature{};
  bool changed = false;
  {
    std::lock_guard lock(mutex_);
    changed = !(now == signature_);
  }
  if (changed) {
    Apply();
  }
  return changed;
}

bool TokenFile::ok() const {
  std::lock_guard lock(mutex_);
  return ok_;
}

}  // namespace nicmon::http
