#include "http/token_file.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <map>
#include <stdexcept>

#include "http/text.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

/// Characters; what has less is taken, with a warning.
constexpr size_t kShortest = 16;

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

TokenFile::Digest TokenFile::Hash(std::string_view token) {
  Digest digest{};
  unsigned int length = 0;
  ::EVP_Digest(token.data(), token.size(), digest.data(), &length, ::EVP_sha256(), nullptr);
  return digest;
}

bool TokenFile::ParseHex(std::string_view hex, Digest* digest) {
  if (hex.size() != 2 * digest->size()) {
    return false;
  }
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    for (const char c : {hex[i], hex[i + 1]}) {
      const char lower = static_cast<char>(c | 0x20);
      const bool letter = lower >= 'a' && lower <= 'f';
      if (!IsDigit(c) && !letter) {
        return false;
      }
      value = value * 16 + static_cast<unsigned>(letter ? lower - 'a' + 10 : c - '0');
    }
    (*digest)[i / 2] = static_cast<unsigned char>(value);
  }
  return true;
}

std::string TokenFile::ParseLine(std::string_view line, Entry* entry) {
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
  if (IsOtherDigest(token)) {
    return "of the digests only sha256 is known";
  }
  entry->name = name;
  if (token.rfind("sha256:", 0) == 0) {
    return ParseHex(token.substr(7), &entry->digest) ? "" : "sha256: wants 64 hex digits";
  }
  entry->digest = Hash(token);
  entry->weak = token.size() < kShortest;
  return "";
}

std::string TokenFile::FindTwice(const std::vector<Entry>& entries) {
  std::map<std::string_view, const Entry*> names;
  std::map<Digest, const Entry*> digests;
  for (const Entry& entry : entries) {
    const auto place = [&](const Entry& other) {
      return " is that of line " + std::to_string(other.line) + " already";
    };
    const std::string line = "line " + std::to_string(entry.line) + ": ";
    if (const auto [it, fresh] = names.emplace(entry.name, &entry); !fresh) {
      return line + "the name " + entry.name + place(*it->second) +
             ": give each token a name of its own, by which log and audit know it";
    }
    if (const auto [it, fresh] = digests.emplace(entry.digest, &entry); !fresh) {
      return line + "the token of " + entry.name + place(*it->second) + ", of " + it->second->name +
             ": give each name a token of its own";
    }
  }
  return "";
}

std::string TokenFile::ReadFile(const std::string& path, std::vector<Entry>* entries,
                                FileSignatures* seen) {
  std::string unreadable;
  const auto text = ReadWatched(path, seen, &unreadable);
  if (!text) {
    return unreadable;
  }
  size_t number = 0;
  for (const std::string_view line : Split(*text, '\n')) {
    Entry entry;
    entry.line = ++number;
    if (const std::string error = ParseLine(line, &entry); !error.empty()) {
      return "line " + std::to_string(number) + ": " + error;
    }
    if (!entry.name.empty()) {
      entries->push_back(std::move(entry));
    }
  }
  return entries->empty() ? "there is no token in it: add one (name:token), or leave out "
                            "--admin-token-file"
                          : FindTwice(*entries);
}

void TokenFile::WarnOfWeak(const std::vector<Entry>& entries) const {
  for (const Entry& entry : entries) {
    if (entry.weak) {
      log::Warning("admin token is short enough to be guessed",
                   {{"file", path_},
                    {"line", std::to_string(entry.line)},
                    {"name", entry.name},
                    {"hint", "give it " + std::to_string(kShortest) +
                                 " random characters or more, such as of openssl rand -hex 32"}});
    }
  }
}

std::string TokenFile::Problem(const std::string& path) {
  std::vector<Entry> entries;
  FileSignatures seen;
  return ReadFile(path, &entries, &seen);
}

TokenFile::TokenFile(std::string path, Clock clock)
    : path_(std::move(path)), watch_(std::move(clock)) {
  FileSignatures seen;
  if (const std::string error = ReadFile(path_, &entries_, &seen); !error.empty()) {
    throw std::runtime_error("cannot use the admin token file " + path_ + ": " + error);
  }
  WarnOfWeak(entries_);
  watch_.Seen(std::move(seen), true);
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

Reread TokenFile::Reload() {
  std::vector<Entry> entries;
  FileSignatures seen;
  const std::string error = ReadFile(path_, &entries, &seen);
  const Reread outcome = watch_.Seen(std::move(seen), error.empty());
  if (!error.empty()) {
    log::Warning("admin token file not taken, the last good one stays",
                 {{"file", path_}, {"error", error}});
    return outcome;
  }
  log::Info("admin token file read", {{"file", path_}, {"tokens", std::to_string(entries.size())}});
  WarnOfWeak(entries);
  std::lock_guard lock(mutex_);
  entries_ = std::move(entries);
  return outcome;
}

Reread TokenFile::Poll() {
  return watch_.Changed() ? Reload() : Reread::kUnchanged;
}

}  // namespace nicmon::http
