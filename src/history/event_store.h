#pragma once

#include <memory>
#include <span>
#include <string>

#include "nicmon/base/clock.h"
#include "nicmon/history/journal.h"
#include "nicmon/monitor/transition.h"

namespace nicmon {

/// Where the journal keeps its records. Query() from any thread, the rest from the journal's.
class EventStore {
 public:
  virtual ~EventStore() = default;
  /// Work that may take its time, before the first Append().
  virtual void Prepare() {}
  /// Adds records, ascending by seq. False: none of them was kept.
  virtual bool Append(std::span<const Transition> events) = 0;
  /// Drops what is too old or too much.
  virtual void Trim() = 0;
  virtual EventPage Query(const EventQuery& query) const = 0;
  virtual uint64_t last_seq() const = 0;
  virtual bool durable() const = 0;
};

std::unique_ptr<EventStore> MakeMemoryStore(const JournalOptions& options);

/// Opens or makes `options.directory`/history.db; a damaged one is moved aside. nullptr, and why in
/// `*error`, where that cannot be.
std::unique_ptr<EventStore> OpenSqliteStore(const JournalOptions& options, const Clock& clock,
                                            std::string* error);

}  // namespace nicmon
