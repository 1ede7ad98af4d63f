#pragma once

#include "history/database.h"
#include "nicmon/monitor/transition.h"

/// Records as rows of the table "events", and back.
namespace nicmon {

int64_t Nanoseconds(WallTime time);

/// The statement that adds one record.
int PrepareInsert(const Database& database, Statement* insert);
void BindRow(Statement& insert, const Transition& event);

/// SELECT for a query, with one row more than its limit, which tells that there is a next page.
int PrepareSelect(const Database& database, const EventQuery& query, Statement* select);
Transition RowOf(const Statement& select);

}  // namespace nicmon
