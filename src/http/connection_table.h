#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// All open connections of one listener: how many there may be, which one has to go when a new one
/// comes, and how to end all at once. The fds belong to the connections, which leave the table
/// before they close them. Thread-safe.
class ConnectionTable {
 public:
  enum class State {
    kWaiting,    // no complete request: idle, or the client is still sending
    kHandling,   // the reply is being made
    kWriting,    // the client is taking the reply
    kStreaming,  // the client takes a reply without an end
  };

  /// `clock` must outlive the table.
  ConnectionTable(size_t capacity, const Clock& clock);

  /// Adds a connection. When the table is full, the connection that has been longest without a
  /// complete request is shut down first, else the one that has been slowest to take its reply;
  /// those that stream are bounded in number elsewhere, and stay.
  /// nullopt: all are being answered, or Stop() was called. `*evicted` says whether one had to go.
  std::optional<uint64_t> Admit(int fd, bool* evicted);

  /// Frees a descriptor: shuts down the connection that Admit() would choose, if there is one.
  bool EvictOne();

  /// False when the connection has been shut down by us, or has had its last reply: nothing more is
  /// to be read or written.
  bool SetState(uint64_t id, State state);
  void Remove(uint64_t id);

  /// Ends every connection but `except` (0: none is), because what they were let in by has changed:
  /// at once, or after the reply that is being made or taken.
  void EndOthers(uint64_t except);
  /// Whether the connection has to end with the reply under way.
  bool ending(uint64_t id) const;

  /// Ends reading on every connection at once, and writing too where no reply is being made.
  void Stop();
  /// Ends what Stop() left, replies that are being made too.
  void ShutAll();
  bool stopping() const;

 private:
  struct Entry {
    int fd;
    State state;
    SteadyTime since;  // of the state
    bool shut = false;
    bool ending = false;  // with the reply under way
  };
  Entry* Victim();

  const size_t capacity_;
  const Clock& clock_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable removed_;
  std::map<uint64_t, Entry> entries_;
  uint64_t next_id_ = 1;
  bool stopping_ = false;
};

}  // namespace nicmon::http
