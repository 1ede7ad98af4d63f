// The only place that knows of yaml-cpp.
#include "http/web_settings.h"

#include <openssl/ssl.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "http/text.h"
#include "http/tls_names.h"
#include "nicmon/base/log.h"
#include "nicmon/base/text.h"

namespace nicmon::http {
namespace {

/// Where the settings go, and what a value is understood by.
struct Target {
  WebSettings& settings;
  const std::string& directory;

  TlsSettings& tls() const { return *settings.tls; }
};

/// One key of a map. Adding one is adding a row. `set` returns what is wrong with the value, in
/// words that follow "KEY: "; a text that begins with "line " has its place already.
struct Key {
  std::string_view name;
  std::string (*set)(const Target& target, const YAML::Node& value);
};

std::string At(const YAML::Node& node, const std::string& what) {
  return what.empty() || what.starts_with("line ")
             ? what
             : "line " + std::to_string(node.Mark().line + 1) + ": " + what;
}

std::string TakeText(const YAML::Node& value, std::string* text) {
  if (!value.IsScalar() || value.Scalar().empty() || !IsPlainLine(value.Scalar())) {
    return "wants a text of one line";
  }
  *text = value.Scalar();
  return "";
}

std::string TakePath(const Target& target, const YAML::Node& value, std::string* path) {
  std::string error = TakeText(value, path);
  if (error.empty()) {
    *path = (std::filesystem::path(target.directory) / *path).string();
  }
  return error;
}

std::string TakeBool(const YAML::Node& value, bool* out) {
  return value.IsScalar() && YAML::convert<bool>::decode(value, *out) ? "" : "wants true or false";
}

std::string TakeList(const YAML::Node& value, std::vector<std::string>* out) {
  if (!value.IsSequence() || value.size() == 0) {
    return "wants a list with something in it";
  }
  for (const YAML::Node& item : value) {
    if (std::string error = TakeText(item, &out->emplace_back()); !error.empty()) {
      return At(item, error);
    }
  }
  return "";
}

/// Whether a map is left empty, which means the same as leaving it out.
bool IsLeftEmpty(const Target& target, const YAML::Node& map) {
  target.settings.unsaid |= map.IsNull();
  return map.IsNull() || (map.IsMap() && map.size() == 0);
}

/// The keys of a map by their table; unknown ones and those given twice are errors.
std::string TakeMap(const Target& target, const YAML::Node& map, std::span<const Key> keys) {
  if (IsLeftEmpty(target, map)) {
    return "";
  }
  if (!map.IsMap()) {
    return "wants settings, one KEY: VALUE a line";
  }
  std::set<std::string> given;
  for (const auto& entry : map) {
    const YAML::Node name = entry.first;
    const YAML::Node value = entry.second;
    const std::string text = name.IsScalar() ? name.Scalar() : "";
    const auto known =
        std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == text; });
    if (known == keys.end()) {
      std::string accepted;
      for (const Key& key : keys) {
        accepted += (accepted.empty() ? "" : ", ") + std::string(key.name);
      }
      return At(name, "unknown key " + log::Quoted(text) + ", accepted are " + accepted);
    }
    if (!given.insert(text).second) {
      return At(name, text + " is given twice");
    }
    if (const std::string error = known->set(target, value); !error.empty()) {
      return error.starts_with("line ") ? error : At(name, text + ": " + error);
    }
  }
  return "";
}

constexpr Key kTlsKeys[] = {
    {"cert_file",
     [](const Target& t, const YAML::Node& v) { return TakePath(t, v, &t.tls().cert_file); }},
    {"key_file",
     [](const Target& t, const YAML::Node& v) { return TakePath(t, v, &t.tls().key_file); }},
    {"client_auth_type",
     [](const Target& t, const YAML::Node& v) {
       std::string name;
       std::string error = TakeText(v, &name);
       return error.empty() ? SetClientAuth(name, &t.tls()) : error;
     }},
    {"client_ca_file",
     [](const Target& t, const YAML::Node& v) { return TakePath(t, v, &t.tls().client_ca_file); }},
    {"client_allowed_sans",
     [](const Target& t, const YAML::Node& v) {
       return TakeList(v, &t.tls().client_allowed_sans);
     }},
    {"min_version",
     [](const Target& t, const YAML::Node& v) {
       std::string name;
       std::string error = TakeText(v, &name);
       return error.empty() ? ParseVersion(name, &t.tls().min_version) : error;
     }},
    {"max_version",
     [](const Target& t, const YAML::Node& v) {
       std::string name;
       std::string error = TakeText(v, &name);
       return error.empty() ? ParseVersion(name, &t.tls().max_version) : error;
     }},
    {"cipher_suites",
     [](const Target& t, const YAML::Node& v) {
       std::vector<std::string> names;
       std::string error = TakeList(v, &names);
       return error.empty() ? SetCiphers(names, &t.tls()) : error;
     }},
    {"curve_preferences",
     [](const Target& t, const YAML::Node& v) {
       std::vector<std::string> names;
       std::string error = TakeList(v, &names);
       return error.empty() ? SetCurves(names, &t.tls()) : error;
     }},
    {"prefer_server_cipher_suites",
     [](const Target& t, const YAML::Node& v) {
       return TakeBool(v, &t.tls().prefer_server_ciphers);
     }},
};

/// What keys mean together.
std::string Complete(TlsSettings* tls) {
  const ClientAuth auth = tls->client_auth;
  const bool verifies = auth == ClientAuth::kVerifyIfGiven || auth == ClientAuth::kRequireAndVerify;
  if (tls->cert_file.empty() || tls->key_file.empty()) {
    return "cert_file and key_file are both needed";
  }
  if (verifies && tls->client_ca_file.empty()) {
    return "client_auth_type needs client_ca_file: who signs certificates of clients";
  }
  if (!verifies && !(tls->client_ca_file.empty() && tls->client_allowed_sans.empty())) {
    return "client_ca_file and client_allowed_sans mean nothing unless certificates are verified: "
           "give client_auth_type RequireAndVerifyClientCert or VerifyClientCertIfGiven";
  }
  tls->min_version = tls->min_version == 0 ? TLS1_2_VERSION : tls->min_version;
  tls->max_version = tls->max_version == 0 ? TLS1_3_VERSION : tls->max_version;
  // Suites that are listed are all there are: without one of TLS 1.2 that is not spoken.
  if (tls->ciphers.empty() && !tls->ciphersuites.empty()) {
    tls->min_version = TLS1_3_VERSION;
  }
  return tls->min_version > tls->max_version
             ? "min_version, max_version and cipher_suites leave no version of TLS"
             : "";
}

std::string SetTls(const Target& target, const YAML::Node& value) {
  if (IsLeftEmpty(target, value)) {
    return "";
  }
  target.settings.tls.emplace();
  std::string error = TakeMap(target, value, kTlsKeys);
  return error.empty() ? Complete(&target.tls()) : error;
}

std::string AddHeader(const Target& target, const std::string& name, const YAML::Node& value,
                      std::initializer_list<std::string_view> accepted) {
  std::string text;
  if (std::string error = TakeText(value, &text); !error.empty()) {
    return error;
  }
  const bool known = accepted.size() == 0 ||
                     std::find(accepted.begin(), accepted.end(), Lower(text)) != accepted.end();
  if (!known || text.size() > 4096 || Printable(text) != text) {
    return log::Quoted(text) + " is not accepted" +
           (accepted.size() == 0 ? ": at most 4 KiB of printable ASCII"
                                 : ", see the exporter toolkit's documentation");
  }
  target.settings.headers.emplace_back(name, text);
  return "";
}

constexpr Key kHeaderKeys[] = {
    {"Content-Security-Policy",
     [](const Target& t, const YAML::Node& v) {
       return AddHeader(t, "Content-Security-Policy", v, {});
     }},
    {"Strict-Transport-Security",
     [](const Target& t, const YAML::Node& v) {
       return AddHeader(t, "Strict-Transport-Security", v, {});
     }},
    {"X-Content-Type-Options",
     [](const Target& t, const YAML::Node& v) {
       return AddHeader(t, "X-Content-Type-Options", v, {"nosniff"});
     }},
    {"X-Frame-Options",
     [](const Target& t, const YAML::Node& v) {
       return AddHeader(t, "X-Frame-Options", v, {"deny", "sameorigin"});
     }},
    {"X-XSS-Protection",
     [](const Target& t, const YAML::Node& v) { return AddHeader(t, "X-XSS-Protection", v, {}); }},
};

constexpr Key kHttpKeys[] = {
    {"http2",
     [](const Target& /*target*/, const YAML::Node& v) -> std::string {
       bool on = false;
       std::string error = TakeBool(v, &on);
       return on ? "HTTP/2 is not spoken here, give false or leave it out" : error;
     }},
    {"headers", [](const Target& t, const YAML::Node& v) { return TakeMap(t, v, kHeaderKeys); }},
};

std::string SetUsers(const Target& target, const YAML::Node& value) {
  if (IsLeftEmpty(target, value)) {
    return "";
  }
  if (!value.IsMap()) {
    return "wants users, one NAME: BCRYPT_HASH a line";
  }
  for (const auto& entry : value) {
    const YAML::Node name = entry.first;
    const YAML::Node hash = entry.second;
    std::string user;
    if (!TakeText(name, &user).empty() || user.find(':') != std::string::npos) {
      return At(name, "a user's name is a text of one line without a colon");
    }
    const std::string problem = HashProblem(hash.IsScalar() ? hash.Scalar() : "");
    if (!problem.empty()) {
      return At(name, "user " + log::Quoted(user) + ": " + problem);
    }
    if (!target.settings.users.emplace(user, hash.Scalar()).second) {
      return At(name, "user " + log::Quoted(user) + " is given twice");
    }
  }
  return "";
}

constexpr Key kKeys[] = {
    {"tls_server_config", SetTls},
    {"http_server_config",
     [](const Target& t, const YAML::Node& v) { return TakeMap(t, v, kHttpKeys); }},
    {"basic_auth_users", SetUsers},
};

}  // namespace

std::string ParseWebSettings(const std::string& text, const std::string& directory,
                             WebSettings* settings) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) {
      settings->unsaid = true;
      return "";
    }
    if (documents.size() > 1) {
      return At(documents[1], "only one YAML document is accepted");
    }
    return At(documents.front(), TakeMap({*settings, directory}, documents.front(), kKeys));
  } catch (const YAML::Exception& error) {
    return "line " + std::to_string(error.mark.line + 1) + ": not YAML: " + error.msg;
  }
}

}  // namespace nicmon::http
