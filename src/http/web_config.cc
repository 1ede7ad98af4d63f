#include "http/web_config.h"

#include <filesystem>
#include <stdexcept>

#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

/// The certificates and keys that the settings name. What is wrong with one, or "".
std::string ReadTlsFiles(const TlsSettings& tls, FileSignatures* seen, TlsFiles* files) {
  struct Named {
    const char* key;
    const std::string& path;
    std::string* text;
  };
  std::string problem;
  for (const Named& file : {Named{"cert_file", tls.cert_file, &files->cert},
                            Named{"key_file", tls.key_file, &files->key},
                            Named{"client_ca_file", tls.client_ca_file, &files->client_ca}}) {
    if (file.path.empty()) {
      continue;
    }
    std::string error;
    if (auto text = ReadWatched(file.path, seen, &error)) {
      *file.text = std::move(*text);
    } else if (problem.empty()) {
      problem = std::string(file.key) + " " + file.path + ": " + error;
    }
  }
  return problem;  // after all of them, so that all of them are watched
}

/// Whether TLS or passwords would end because a file is not written yet.
bool LosesUnsaid(const WebConfig& in_force, const WebConfig& next) {
  const bool tls = in_force.tls != nullptr && next.tls == nullptr;
  const bool users = !in_force.settings.users.empty() && next.settings.users.empty();
  return next.settings.unsaid && (tls || users);
}

std::vector<log::Field> Describe(const std::string& path, const WebConfig& config) {
  std::vector<log::Field> fields = {{"file", path},
                                    {"tls", config.tls != nullptr ? "true" : "false"},
                                    {"users", std::to_string(config.settings.users.size())}};
  if (config.tls != nullptr) {
    fields.push_back({"certificate_until", Rfc3339(config.tls->not_after())});
  }
  return fields;
}

}  // namespace

std::shared_ptr<const WebConfig> WebConfigFile::Read(const std::string& path, FileSignatures* seen,
                                                     std::string* error) {
  const auto text = ReadWatched(path, seen, error);
  if (!text) {
    return nullptr;
  }
  auto config = std::make_shared<WebConfig>();
  const std::string directory = std::filesystem::path(path).parent_path().string();
  *error = ParseWebSettings(*text, directory, &config->settings);
  if (!error->empty() || !config->settings.tls) {
    return error->empty() ? config : nullptr;
  }
  TlsFiles files;
  *error = ReadTlsFiles(*config->settings.tls, seen, &files);
  if (error->empty()) {
    config->tls = TlsContext::Make(*config->settings.tls, files, error);
  }
  return error->empty() ? config : nullptr;
}

std::string WebConfigFile::Problem(const std::string& path) {
  FileSignatures seen;
  std::string error;
  (void)Read(path, &seen, &error);
  return error;
}

WebConfigFile::WebConfigFile(std::string path, Clock clock, bool crosses_network)
    : path_(std::move(path)), crosses_network_(crosses_network), watch_(std::move(clock)) {
  FileSignatures seen;
  std::string error;
  config_ = Read(path_, &seen, &error);
  if (config_ == nullptr) {
    throw std::runtime_error("cannot use the web config file " + path_ + ": " + error);
  }
  watch_.Seen(std::move(seen), true);
  LogTaken(*config_);
}

void WebConfigFile::LogTaken(const WebConfig& config) const {
  log::WriteFields(log::Level::kInfo, "web config file read", Describe(path_, config));
  if (crosses_network_ && config.tls == nullptr && !config.settings.users.empty()) {
    log::Warning("passwords cross the network in clear text",
                 {{"file", path_},
                  {"hint",
                   "add tls_server_config, or listen on 127.0.0.1 alone; "
                   "--admin-allow-plaintext says that somebody else encrypts"}});
  }
}

std::shared_ptr<const WebConfig> WebConfigFile::current() const {
  std::lock_guard lock(mutex_);
  return config_;
}

Reread WebConfigFile::Reload() {
  FileSignatures seen;
  std::string error;
  auto config = Read(path_, &seen, &error);
  if (config != nullptr && LosesUnsaid(*current(), *config)) {
    error =
        "there is nothing in it, or in a section of it, which would end what is in force: write "
        "{} there to say so, or start again";
    config = nullptr;
  }
  const Reread outcome = watch_.Seen(std::move(seen), config != nullptr);
  if (config == nullptr) {
    log::Warning("web config file not taken, the last good one stays",
                 {{"file", path_}, {"error", error}});
    return outcome;
  }
  LogTaken(*config);
  std::lock_guard lock(mutex_);
  config_ = std::move(config);
  return outcome;
}

Reread WebConfigFile::Poll() {
  return watch_.Changed() ? Reload() : Reread::kUnchanged;
}

}  // namespace nicmon::http
