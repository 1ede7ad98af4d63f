// What was: events and audit.
#include "http/json.h"
#include "http/lookup.h"
#include "http/refusals.h"
#include "http/render.h"
#include "http/routes.h"
#include "http/text.h"
#include "http/text_tables.h"
#include "http/times.h"

namespace nicmon::http {
namespace {

constexpr uint64_t kMaxLimit = 1000;

/// A time, or a duration back from now.
std::optional<WallTime> TimeOf(const Call& call, const std::string& text) {
  if (const auto ttl = ParseTtl(text)) {
    return call.now() - *ttl;
  }
  return ParseRfc3339(text);
}

/// The first parameter that cannot be taken, if there is one.
std::optional<Reply> ReadNumbers(const Call& call, EventQuery* query) {
  if (const std::string* limit = call.Find("limit"); limit != nullptr) {
    const auto number = ParseNumber(*limit);
    if (!number || *number == 0 || *number > kMaxLimit) {
      return InvalidParameter("limit is not a number of records", "1 to 1000");
    }
    query->limit = *number;
  }
  if (const std::string* port = call.Find("port"); port != nullptr) {
    const auto number = ParseNumber(*port);
    if (!number || *number == 0 || *number > UINT32_MAX) {
      return InvalidParameter("port is not a port's number", "like 1");
    }
    query->port = static_cast<uint32_t>(*number);
  }
  return std::nullopt;
}

std::optional<Reply> ReadTimes(const Call& call, EventQuery* query) {
  if (const std::string* since = call.Find("since"); since != nullptr) {
    query->since = TimeOf(call, *since);
    if (!query->since) {
      return InvalidParameter("since is not a time",
                              "like 2026-01-31T23:59:59Z, or 2h for two hours ago");
    }
  }
  if (const std::string* before = call.Find("before"); before != nullptr) {
    query->before_seq = ParseNumber(*before);
    if (!query->before_seq) {
      query->before = TimeOf(call, *before);
    }
    if (!query->before_seq && !query->before) {
      return InvalidParameter("before is neither a cursor nor a time",
                              "the \"next\" of the page before, a time, or 2h for two hours ago");
    }
    // Larger than what SQLite can compare with.
    query->before_seq = query->before_seq
                            ? std::optional(std::min<uint64_t>(*query->before_seq, INT64_MAX))
                            : std::nullopt;
  }
  return std::nullopt;
}

Expected<EventQuery> ReadQuery(const Call& call) {
  EventQuery query;
  if (auto bad = ReadNumbers(call, &query)) {
    return *bad;
  }
  if (auto bad = ReadTimes(call, &query)) {
    return *bad;
  }
  if (const std::string* type = call.Find("type"); type != nullptr) {
    query.type = TransitionTypeFromName(*type);
    if (!query.type || *query.type == TransitionType::kAudit) {
      return InvalidParameter("type is not known",
                              "link, speed, gid, lid, device, mismatch or hold");
    }
  }
  if (const std::string* device = call.Find("device"); device != nullptr) {
    query.device = NameNow(call.service.backend.view(), *device);  // or as it was: it may be gone
  }
  return query;
}

Reply NoHistory() {
  return Unavailable("history_unavailable", "the history cannot be read now",
                     "see nicmon's log; " + Look("ports") + " still has the ports");
}

}  // namespace

Reply GetEvents(Call& call) {
  auto query = ReadQuery(call);
  if (!query) {
    return query.error;
  }
  const EventPage page = call.service.backend.events(*query);
  return page.failed
             ? NoHistory()
             : Render(
                   call, [&] { return EventTable(page); }, [&] { return json::Events(page); });
}

Reply GetAudit(Call& call) {
  auto query = ReadQuery(call);
  if (!query) {
    return query.error;
  }
  query->audit = true;
  const EventPage page = call.service.backend.events(*query);
  return page.failed
             ? NoHistory()
             : Render(
                   call, [&] { return AuditTable(page); }, [&] { return json::AuditList(page); });
}

}  // namespace nicmon::http
