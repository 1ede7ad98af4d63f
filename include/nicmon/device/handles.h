#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"

namespace nicmon {

/// Sole owner of one verbs object. A release verb that fails is logged, and whoever owns the rest
/// goes on releasing.
template <typename T>
class VerbsHandle {
 public:
  using Release = std::function<int(T*)>;  // 0 or an errno

  VerbsHandle() = default;
  /// `verb` must be a string literal, for the log; `release` must outlive the handle (it is a field
  /// of the VerbsApi that the object came from, so that taking ownership cannot fail).
  VerbsHandle(T* object, const char* verb, const Release& release)
      : object_(object), verb_(verb), release_(&release) {}
  VerbsHandle(VerbsHandle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        verb_(other.verb_),
        release_(other.release_) {}
  VerbsHandle& operator=(VerbsHandle&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(verb_, other.verb_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~VerbsHandle() {
    if (object_ == nullptr) {
      return;
    }
    if (const int error = (*release_)(object_); error != 0) {
      log::Warning("release failed", {{"verb", verb_}, {"error", ErrnoText(error)}});
    }
  }

  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
  const char* verb_ = "";
  const Release* release_ = nullptr;
};

/// Elements that are destroyed last-in first-out, which std::vector does not promise.
template <typename T>
class Stack {
 public:
  Stack() = default;
  Stack(Stack&& other) noexcept : items_(std::exchange(other.items_, {})) {}
  Stack& operator=(Stack&&) = delete;
  ~Stack() {
    while (!items_.empty()) {
      items_.pop_back();
    }
  }

  void Reserve(size_t count) { items_.reserve(count); }
  void Push(T item) { items_.push_back(std::move(item)); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const T& operator[](size_t index) const { return items_[index]; }

 private:
  std::vector<T> items_;
};

}  // namespace nicmon
