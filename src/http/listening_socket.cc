#include "http/listening_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/group.h"

namespace nicmon::http {
namespace {

constexpr int kBacklog = 1024;  // a full one costs a client a second until its next SYN

std::string AddressText(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port));
}

std::string WhatToDo(int error, uint16_t port) {
  switch (error) {
    case EADDRINUSE:
      return "another nicmon or program listens there (ss -ltnp 'sport = :" + std::to_string(port) +
             "' names it): stop it, or choose another with --listen";
    case EACCES:
      return "a port below 1024 needs CAP_NET_BIND_SERVICE: choose another with --listen";
    case EADDRNOTAVAIL:
      return "this host does not have that address: choose another with --listen";
    case EAFNOSUPPORT:
      return "this host has no IPv6: use --listen 0.0.0.0:" + std::to_string(port);
    default:
      return "choose another address with --listen";
  }
}

/// 0 or an errno.
int TryListen(const addrinfo& info, TcpSocket* out) {
  UniqueFd fd(::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return errno;
  }
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (info.ai_family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  // listen() at once: with SO_REUSEADDR only a listening socket keeps a second one from binding.
  if (::bind(fd.get(), info.ai_addr, info.ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return errno;
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return errno;
  }
  out->fd = std::move(fd);
  out->address = AddressText(bound);
  out->loopback = IsLoopback(bound);
  return 0;
}

[[noreturn]] void Fail(const std::string& path, const std::string& why) {
  throw UnusablePath("cannot use the admin socket " + path + ": " + why);
}

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error("cannot use the admin socket " + path + ": " + why);
}

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    Fail(path, "the path is longer than 107 bytes: choose a shorter one with --admin-socket");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

std::string DirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// A directory of our own in one that is there, /run/nicmon, and no more than that: a longer way
/// that is missing is a slip or a missing mount, and so is what would stand right below /.
void MakeDirectory(const std::string& path, const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) == 0 || errno != ENOENT) {
    return;  // what is wrong with it shows when the socket is bound
  }
  const std::string above = DirectoryOf(directory);
  std::string why = "it is not there";
  if (above != "/" && ::stat(above.c_str(), &status) == 0) {
    if (::mkdir(directory.c_str(), 0755) == 0) {
      ::chmod(directory.c_str(), 0755);  // whatever the umask is: the socket's own mode counts
      return;
    }
    if (errno == EEXIST) {
      return;
    }
    why = ErrnoText(errno);
  }
  Fail(path, "its directory " + directory + " cannot be used: " + why + "; make it (mkdir -p " +
                 directory + ") and hand it to user " + std::to_string(::geteuid()) +
                 ", or choose another path or none with --admin-socket");
}

/// Keeps two starts from judging the same stale socket at the same time. Nothing is left behind:
/// the lock is on the directory. Without permission to open it there is no lock, and no need.
UniqueFd LockDirectory(const std::string& path, const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int attempt = 0; fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (attempt == 100) {
      Fail(path, "another start holds the directory: try again");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fd;
}

void RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return;
  }
  if (!S_ISSOCK(status.st_mode)) {
    Fail(path, "something that is not a socket is there: remove it or choose another path");
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) {
    Fail(path, ErrnoText(errno));
  }
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN || errno == EINPROGRESS) {
    Refuse(path,
           "a running process answers there: stop it, or choose another path or none with "
           "--admin-socket");
  }
  if (errno != ECONNREFUSED) {
    Fail(path, "cannot tell whether it is live: " + ErrnoText(errno));
  }
  ::unlink(path.c_str());
}

}  // namespace

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

TcpSocket ListenTcp(const std::string& host, uint16_t port, bool fall_back_to_ipv4) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  const std::string shown =
      (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    throw std::runtime_error("cannot listen on " + shown +
                             ": not a numeric address: use one with --listen");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  TcpSocket out;
  const int error = TryListen(*found, &out);
  if (error == 0) {
    return out;
  }
  if (host == "::" && fall_back_to_ipv4 && (error == EAFNOSUPPORT || error == EADDRNOTAVAIL)) {
    return ListenTcp("0.0.0.0", port, false);
  }
  throw std::runtime_error("cannot listen on " + shown + ": " + ErrnoText(error) + "; " +
                           WhatToDo(error, port));
}

AdminSocket::AdminSocket(AdminSocket&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

AdminSocket& AdminSocket::operator=(AdminSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

AdminSocket AdminSocket::Listen(const std::string& path, const std::string& group) {
  const std::optional<gid_t> gid = group.empty() ? std::nullopt : FindGroup(group);
  if (!group.empty() && !gid) {
    Refuse(path, "there is no group " + group + ": see --admin-socket-group");
  }
  const sockaddr_un address = UnixAddress(path);
  const std::string directory = DirectoryOf(path);
  MakeDirectory(path, directory);
  const UniqueFd lock = LockDirectory(path, directory);
  RemoveStale(path, address);

  AdminSocket out;
  out.fd_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out.fd_ ||
      ::bind(out.fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    Fail(path, ErrnoText(errno));
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    Fail(path, ErrnoText(errno));
  }
  out.path_ = path;
  out.device_ = status.st_dev;
  out.inode_ = status.st_ino;
  // Nobody can connect before listen(), so there is no moment with the wrong mode or group.
  if (gid && ::chown(path.c_str(), static_cast<uid_t>(-1), *gid) != 0) {
    Refuse(path, "cannot give it to group " + group + ": " + ErrnoText(errno) +
                     "; --admin-socket-group takes a group this process is in, or any as root");
  }
  if (::chmod(path.c_str(), 0660) != 0 || ::listen(out.fd_.get(), kBacklog) != 0) {
    Fail(path, ErrnoText(errno));
  }
  return out;
}

void AdminSocket::Close() {
  struct stat status {};
  if (!path_.empty() && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  path_.clear();
  fd_.reset();
}

}  // namespace nicmon::http
