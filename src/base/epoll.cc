#include "nicmon/base/epoll.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace nicmon {
namespace {

constexpr int kMaxReady = 64;

uint64_t Pack(WatchId id) {
  return (static_cast<uint64_t>(id.generation) << 32) | id.slot;
}
WatchId Unpack(uint64_t data) {
  return {static_cast<uint32_t>(data), static_cast<uint32_t>(data >> 32)};
}

}  // namespace

Epoll::Epoll() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!fd_) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
}

WatchId Epoll::Add(int fd, uint32_t events) {
  uint32_t slot = 0;
  while (slot < slots_.size() && slots_[slot].fd >= 0) {
    ++slot;
  }
  if (slot == slots_.size()) {
    slots_.emplace_back();
  }
  const WatchId id{slot, slots_[slot].generation};
  epoll_event event{};
  event.events = events;
  event.data.u64 = Pack(id);
  if (::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return {};
  }
  slots_[slot].fd = fd;
  return id;
}

void Epoll::Remove(WatchId id) {
  if (!Contains(id)) {
    return;
  }
  Slot& slot = slots_[id.slot];
  ::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, slot.fd, nullptr);
  slot.fd = -1;
  if (++slot.generation == 0) {
    slot.generation = 1;
  }
}

bool Epoll::Contains(WatchId id) const {
  return id.generation != 0 && id.slot < slots_.size() && slots_[id.slot].fd >= 0 &&
         slots_[id.slot].generation == id.generation;
}

std::span<const Epoll::Ready> Epoll::Wait(int timeout_ms) {
  std::array<epoll_event, kMaxReady> events;
  const int count = ::epoll_wait(fd_.get(), events.data(), kMaxReady, timeout_ms);
  ready_.clear();
  for (int i = 0; i < count; ++i) {
    const WatchId id = Unpack(events[i].data.u64);
    if (Contains(id)) {
      ready_.push_back({id, events[i].events});
    }
  }
  return ready_;
}

Waker::Waker() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
}

void Waker::Wake() {
  const uint64_t one = 1;
  // EAGAIN means the counter is full: the loop is going to wake anyway.
  [[maybe_unused]] const ssize_t n = ::write(fd_.get(), &one, sizeof(one));
}

void Waker::Clear() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd_.get(), &count, sizeof(count));
}

}  // namespace nicmon
