#pragma once

#include "ctl/command_table.h"

/// The commands. Each prints what it has to say and returns the exit code.
namespace nicmon::ctl {

// commands_read.cc
int Ports(Client& client, const Invocation& invocation);
int Devices(Client& client, const Invocation& invocation);
int Holds(Client& client, const Invocation& invocation);
int Events(Client& client, const Invocation& invocation);
int AuditLog(Client& client, const Invocation& invocation);
int Select(Client& client, const Invocation& invocation);
int Health(Client& client, const Invocation& invocation);

// commands_operate.cc
int Requery(Client& client, const Invocation& invocation);
int Probe(Client& client, const Invocation& invocation);
int Pause(Client& client, const Invocation& invocation);
int Resume(Client& client, const Invocation& invocation);
int Release(Client& client, const Invocation& invocation);
int Reopen(Client& client, const Invocation& invocation);
int AcceptSpeed(Client& client, const Invocation& invocation);
int Forget(Client& client, const Invocation& invocation);
int DeleteHold(Client& client, const Invocation& invocation);
int LogLevel(Client& client, const Invocation& invocation);

int Check(Client& client, const Invocation& invocation);
int Watch(Client& client, const Invocation& invocation);

}  // namespace nicmon::ctl
