#include "nicmon/app/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ctime>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"

namespace nicmon {
namespace {

UniqueFd Connect(std::string_view socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path || (socket[0] != '/' && socket[0] != '@')) {
    log::Warning("NOTIFY_SOCKET is not a unix socket's address, the service manager is not told",
                 {{"socket", std::string(socket)}});
    return {};
  }
  std::copy(socket.begin(), socket.end(), std::begin(address.sun_path));
  if (socket[0] == '@') {
    address.sun_path[0] = '\0';
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    log::Warning("the service manager cannot be told",
                 {{"socket", std::string(socket)}, {"error", ErrnoText(errno)}});
    return {};
  }
  return fd;
}

}  // namespace

ServiceManager::ServiceManager(std::string_view socket)
    : fd_(socket.empty() ? UniqueFd() : Connect(socket)) {}

ServiceManager ServiceManager::FromEnvironment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  return ServiceManager(socket == nullptr ? "" : socket);
}

void ServiceManager::Ready() {
  Send("READY=1");
}

void ServiceManager::Reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t us = int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  Send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us));
}

void ServiceManager::Stopping() {
  Send("STOPPING=1");
}

void ServiceManager::Alive(const std::string& status) {
  if (status == status_) {
    Send("WATCHDOG=1");
    return;
  }
  status_ = status;
  Send("WATCHDOG=1\nSTATUS=" + status);
}

void ServiceManager::Send(std::string_view message) {
  if (fd_) {
    (void)::send(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL);
  }
}

}  // namespace nicmon
