#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "nicmon/base/bounded_calls.h"
#include "nicmon/base/clock.h"
#include "nicmon/monitor/transition.h"

namespace nicmon {

struct JournalOptions {
  std::string directory;        // of history.db; empty: memory only
  size_t queue = 8192;          // records waiting to be written; more are dropped
  size_t max_events = 100'000;  // rows kept, audit records apart from the others, so that no
  size_t max_audit = 20'000;    // flapping port pushes out who did what
  Duration max_age = std::chrono::hours(30 * 24);
  Duration patience = std::chrono::seconds(5);  // of who reads, with the disk
  size_t memory_events = 4096;                  // the same without a directory
  size_t memory_audit = 1024;
};

/// The history of the node: takes records from any thread, tells its listener of them on one of its
/// own and writes them on another, so that nobody waits for a disk. It can be thrown away: a
/// damaged file is moved aside, and what cannot be written is counted and left out.
class Journal {
 public:
  using Listener = std::function<void(std::span<const Transition>)>;

  /// Opens or makes the history; with one warning falls back to memory where that is impossible.
  Journal(const JournalOptions& options, const Clock& clock);
  /// Asks the thread to end. It is not waited for: one that hangs in a write owns what it needs.
  ~Journal();

  /// `listener` gets all records in order, on a thread that never waits for the disk. It must not
  /// block. Before Start().
  void Subscribe(Listener listener);
  void Start();
  /// Writes what is queued and ends the thread; whether that was done within `timeout`.
  bool Stop(Duration timeout);

  /// Takes records for as long as anybody has it, also after the journal has stopped (which drops
  /// them).
  RecordTransition recorder() const;
  /// Any thread; reads through a connection of its own. Has every record taken before the call,
  /// unless writing it takes longer than a second. Fails when the disk does not answer.
  EventPage Query(const EventQuery& query) const;
  /// Records left out: no room in the queue, or not writable.
  uint64_t dropped() const;
  bool durable() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
  const Duration patience_;
  mutable BoundedCalls reads_;
};

}  // namespace nicmon
