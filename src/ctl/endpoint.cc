#include "ctl/endpoint.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::ctl {
namespace {

constexpr const char* kDefaultSocket = "/run/nicmon/admin.sock";

/// 0 when somebody listens there, else an errno.
int TryConnect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return ENAMETOOLONG;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return errno;
  }
  // EAGAIN: the backlog is full, so somebody is there.
  const bool there =
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EAGAIN;
  return there ? 0 : errno;
}

std::string GroupName(gid_t gid) {
  const group* const entry = ::getgrgid(gid);
  return entry != nullptr ? entry->gr_name : std::to_string(gid);
}

/// Who may use a socket that we may not.
std::string WhoMay(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return "this user may not look into its directory: run as root";
  }
  const std::string group = GroupName(status.st_gid);
  if ((status.st_mode & S_IWGRP) == 0 || status.st_gid == 0) {
    return "only root may use it: run as root, or start nicmon with --admin-socket-group";
  }
  return "it is for members of group " + group + ": run as root or join that group (usermod -aG " +
         group + " USER, then log in again)";
}

std::string WhyNot(const std::string& path, int error) {
  const std::string what = "cannot use the admin socket " + path + ": ";
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return what + "it is not there";
    case ECONNREFUSED:
      return what + "nobody listens there";
    case EACCES:
    case EPERM:
      return what + "permission denied, " + WhoMay(path);
    default:
      return what + ErrnoText(error);
  }
}

bool NobodyThere(int error) {
  return error == ENOENT || error == ENOTDIR || error == ECONNREFUSED;
}

constexpr const char* kStartIt =
    "; is nicmon running (systemctl status nicmon), and with which --admin-socket? Give it with "
    "--socket, or use --url";

/// The first of `paths` on which somebody listens.
std::optional<Endpoint> FirstThatListens(const std::vector<std::string>& paths,
                                         std::string* error) {
  for (const std::string& path : paths) {
    const int failed = TryConnect(path);
    if (failed == 0) {
      Endpoint endpoint;
      endpoint.socket = path;
      return endpoint;
    }
    *error += (error->empty() ? "" : "; ") + WhyNot(path, failed);
    // One that we may not use is there: another one would be another nicmon.
    if (!NobodyThere(failed)) {
      return std::nullopt;
    }
  }
  *error += kStartIt;
  return std::nullopt;
}

std::optional<Endpoint> FindSocket(const Invocation& invocation, std::string* error) {
  if (invocation.Has("socket")) {
    return FirstThatListens({invocation.Get("socket")}, error);
  }
  const char* const variable = std::getenv("NICMON_ADMIN_SOCKET");
  if (variable != nullptr && std::string_view(variable) == "none") {
    *error = "NICMON_ADMIN_SOCKET is none: nicmon has no admin socket here; use --url";
    return std::nullopt;
  }
  if (variable != nullptr && *variable != '\0') {
    return FirstThatListens({variable}, error);
  }
  std::vector<std::string> paths = {kDefaultSocket};
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') {
    paths.push_back(std::string(runtime) + "/nicmon/admin.sock");
  }
  return FirstThatListens(paths, error);
}

/// What only https has.
bool TakeTlsSettings(const Invocation& invocation, Endpoint* endpoint, std::string* error) {
  endpoint->ca_file = ConnectionSetting(invocation, "ca-file");
  endpoint->cert = ConnectionSetting(invocation, "cert");
  endpoint->key = ConnectionSetting(invocation, "key");
  const std::string insecure = ConnectionSetting(invocation, "insecure");
  endpoint->insecure = insecure == "true" || insecure == "1" || insecure == "yes";
  if (endpoint->cert.empty() != endpoint->key.empty()) {
    *error = "--cert and --key go together";
  }
  for (const auto& [what, path] :
       {std::pair{"--ca-file", &endpoint->ca_file}, std::pair{"--cert", &endpoint->cert},
        std::pair{"--key", &endpoint->key}}) {
    if (error->empty() && !path->empty() && ::access(path->c_str(), R_OK) != 0) {
      *error = std::string("cannot read ") + what + " " + *path + ": " + ErrnoText(errno);
    }
    if (error->empty() && !endpoint->tls && invocation.Has(std::string(what).substr(2))) {
      *error = std::string(what) + " goes with an https --url";
    }
  }
  return error->empty();
}

/// Who we say we are: a token, or a user and a password.
bool TakeCredentials(const Invocation& invocation, Endpoint* endpoint, std::string* error) {
  const std::string token_file = ConnectionSetting(invocation, "token-file");
  const std::string password_file = ConnectionSetting(invocation, "password-file");
  endpoint->user = ConnectionSetting(invocation, "user");
  if (!token_file.empty() && !endpoint->user.empty()) {
    *error = "a token file and a user are both given, give one: a token opens reads too";
  } else if (endpoint->user.find(':') != std::string::npos) {
    *error =
        "--user takes a name alone: a password there could be read by everybody on this "
        "machine, put it in a file for --password-file";
  } else if (endpoint->user.empty() != password_file.empty()) {
    *error = "--user and --password-file go together";
  } else if (!token_file.empty()) {
    endpoint->token = ReadToken(token_file, error).value_or("");
  } else if (!password_file.empty()) {
    endpoint->password = ReadPassword(password_file, error).value_or("");
  }
  return error->empty();
}

}  // namespace

std::string Endpoint::Name() const {
  if (!socket.empty()) {
    return "the admin socket " + socket;
  }
  const bool v6 = host.find(':') != std::string::npos;
  return (tls ? "https://" : "http://") + (v6 ? "[" + host + "]" : host) + ":" +
         std::to_string(port);
}

std::optional<Endpoint> ParseUrl(const std::string& url) {
  Endpoint endpoint;
  const size_t scheme = url.find("://");
  endpoint.tls = url.starts_with("https://");
  if (scheme == std::string::npos || (!endpoint.tls && !url.starts_with("http://"))) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(url).substr(scheme + 3);
  if (rest.ends_with('/')) {
    rest.remove_suffix(1);
  }
  const bool bracketed = rest.starts_with('[');
  const size_t end = bracketed ? rest.find(']') : rest.find(':');
  if (bracketed && end == std::string_view::npos) {
    return std::nullopt;
  }
  endpoint.host = rest.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
  rest = end == std::string_view::npos ? "" : rest.substr(end + (bracketed ? 1 : 0));
  endpoint.port = endpoint.tls ? 443 : 80;
  if (!rest.empty()) {
    const auto [stop, error] =
        std::from_chars(rest.data() + 1, rest.data() + rest.size(), endpoint.port);
    if (rest.front() != ':' || error != std::errc() || stop != rest.data() + rest.size()) {
      return std::nullopt;
    }
  }
  const bool plain =
      !endpoint.host.empty() && endpoint.host.find_first_of("/@?# []") == std::string::npos;
  return plain && endpoint.port > 0 && endpoint.port < 65536 ? std::optional(endpoint)
                                                             : std::nullopt;
}

std::optional<std::string> ReadToken(const std::string& path, std::string* error) {
  std::ifstream file(path);
  if (!file) {
    *error = "cannot read the token file " + path + ": " + ErrnoText(errno);
    return std::nullopt;
  }
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const size_t colon = line.find(':');
    std::string token = colon == std::string::npos ? line : line.substr(colon + 1);
    if (token.starts_with("sha256:")) {
      *error = "the token file " + path + " holds only a token's hash: give one with the token";
      return std::nullopt;
    }
    return token;
  }
  *error = "the token file " + path + " holds no token";
  return std::nullopt;
}

std::optional<std::string> ReadPassword(const std::string& path, std::string* error) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    *error = "the password file " + path + (file.is_open() ? " is empty" : " cannot be read");
    return std::nullopt;
  }
  line.erase(line.find_last_not_of('\r') + 1);
  return line;
}

std::string ConnectionSetting(const Invocation& invocation, const std::string& flag) {
  if (invocation.Has(flag)) {
    return invocation.Get(flag);
  }
  std::string name = "NICMON_CTL_";
  for (const char c : flag) {
    name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  }
  const char* const variable = std::getenv(name.c_str());
  return variable == nullptr ? "" : variable;
}

std::optional<Endpoint> FindEndpoint(const Invocation& invocation, std::string* error) {
  const std::string url = ConnectionSetting(invocation, "url");
  if (invocation.Has("socket") || url.empty()) {
    return FindSocket(invocation, error);
  }
  auto endpoint = ParseUrl(url);
  if (!endpoint) {
    *error = "--url is not understood, give http://HOST:PORT or https://HOST:PORT";
    return std::nullopt;
  }
  if (!TakeTlsSettings(invocation, &*endpoint, error) ||
      !TakeCredentials(invocation, &*endpoint, error)) {
    return std::nullopt;
  }
  return endpoint;
}

}  // namespace nicmon::ctl
