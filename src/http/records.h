#pragma once

#include <string>

#include "http/service.h"

/// What the routes tell the history.
namespace nicmon::http {

/// A hold that began (`held`) or ended by this call, on a device of that name. `replaced`: one that
/// gave way to it, or nullptr.
void TellHold(const Call& call, const std::string& cause, const Hold& hold,
              const std::string& device, bool held, const Hold* replaced = nullptr);

/// A release of a whole device that began or ended by this call. `before`: the one that was in
/// force until then, or nullptr.
void TellRelease(const Call& call, const std::string& device, bool released, const Release* before);

/// Hold or release in a few words, for log and audit.
std::string InWords(const Hold& hold);
std::string InWords(const Release& release, const std::string& device);

/// The record of an operator's action that was carried out or failed. `action` as in the metrics.
void TellAction(const Call& call, std::string_view action, int status);

/// An operator's request that was refused before it had a Call; `about`: device and port.
void TellRefused(const Service& service, const Request& request, std::string_view action,
                 const Audit& about, int status, uint64_t left_out);

}  // namespace nicmon::http
