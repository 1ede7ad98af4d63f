#include "history/event_rows.h"

namespace nicmon {
namespace {

constexpr char kColumns[] =
    "seq, time, type, device, port, cause, before, after, note, by, who, hold, until, status, "
    "replaced";

}  // namespace

int64_t Nanoseconds(WallTime time) {
  return time.time_since_epoch().count();
}

Transition RowOf(const Statement& row) {
  Transition event;
  event.seq = static_cast<uint64_t>(row.Number(0));
  event.time = WallTime(Duration(row.Number(1)));
  event.type = TransitionTypeFromName(row.Text(2)).value_or(TransitionType::kLink);
  event.device = row.Text(3);
  event.port = static_cast<uint32_t>(row.Number(4));
  event.cause = row.Text(5);
  event.before = row.Text(6);
  event.after = row.Text(7);
  event.note = row.Text(8);
  event.by = row.Text(9);
  event.who = row.Text(10);
  event.hold = row.Text(11);
  event.until = row.Text(12);
  event.status = static_cast<int>(row.Number(13));
  event.replaced = row.Text(14);
  return event;
}

int PrepareInsert(const Database& database, Statement* insert) {
  return insert->Prepare(database,
                         std::string("INSERT INTO events (") + kColumns +
                             ") VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)");
}

void BindRow(Statement& row, const Transition& event) {
  row.Bind(1, static_cast<int64_t>(event.seq));
  row.Bind(2, Nanoseconds(event.time));
  row.Bind(3, TransitionTypeName(event.type));
  row.Bind(4, event.device);
  row.Bind(5, int64_t{event.port});
  row.Bind(6, event.cause);
  row.Bind(7, event.before);
  row.Bind(8, event.after);
  row.Bind(9, event.note);
  row.Bind(10, event.by);
  row.Bind(11, event.who);
  row.Bind(12, event.hold);
  row.Bind(13, event.until);
  row.Bind(14, int64_t{event.status});
  row.Bind(15, event.replaced);
}

int PrepareSelect(const Database& database, const EventQuery& query, Statement* select) {
  std::string sql = std::string("SELECT ") + kColumns + " FROM events WHERE type " +
                    (query.audit ? "= 'audit'" : "<> 'audit'");
  sql += query.before_seq ? " AND seq < ?1" : "";
  sql += query.since ? " AND time >= ?2" : "";
  sql += query.before ? " AND time < ?3" : "";
  // As Matches() has it for records in memory.
  sql += query.device.empty() ? "" : query.audit ? " AND device IN (?4, ?8)" : " AND device = ?4";
  sql += !query.port   ? ""
         : query.audit ? " AND (port = ?5 OR (port = 0 AND device <> ''))"
                       : " AND port = ?5";
  sql += query.type ? " AND type = ?6" : "";
  sql += " ORDER BY seq DESC LIMIT ?7";
  const int result = select->Prepare(database, sql);
  if (result != SQLITE_OK) {
    return result;
  }
  select->Bind(1, static_cast<int64_t>(query.before_seq.value_or(0)));
  select->Bind(2, Nanoseconds(query.since.value_or(WallTime{})));
  select->Bind(3, Nanoseconds(query.before.value_or(WallTime{})));
  select->Bind(4, query.device);
  select->Bind(5, int64_t{query.port.value_or(0)});
  select->Bind(6, query.type ? TransitionTypeName(*query.type) : "");
  select->Bind(7, static_cast<int64_t>(query.limit) + 1);
  select->Bind(8, kAllDevices);
  return SQLITE_OK;
}

}  // namespace nicmon
