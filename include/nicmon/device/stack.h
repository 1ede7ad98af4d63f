#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nicmon {

/// Owners that are destroyed last-in first-out, which std::vector does not promise.
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

  /// Makes room, so that Push() cannot fail for the next `count` items.
  void Reserve(size_t count) { items_.reserve(count); }
  void Push(T item) { items_.push_back(std::move(item)); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const T& operator[](size_t index) const { return items_[index]; }

 private:
  std::vector<T> items_;
};

}  // namespace nicmon
