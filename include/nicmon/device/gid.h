#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/device/port_values.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// Name of the netdev behind a slot of one port's GID table; empty when there is none.
using GidNetdev = std::function<std::string(uint32_t index)>;

/// Why a port has no GID.
enum class GidAbsence {
  kNone,             // it has one
  kEmptyTable,       // no slot is filled (yet): pending, not fatal
  kAllNull,          // slots are filled, with zeros only
  kQueriesFailed,    // nothing usable was read and at least one read failed
  kIndexOutOfRange,  // the slot asked for is not in the table
  kIndexEmpty,       // the slot asked for is in the table, but empty or zero
};

/// What a port's GID table held at one time.
struct GidTable {
  uint32_t length = 0;            // slots of the port
  std::vector<GidEntry> entries;  // filled slots of this port, ascending by index
  std::vector<uint32_t> failed;   // slots that could not be read (all of them: `all_failed`)
  bool all_failed = false;
  int error = 0;  // errno of the last read that failed, 0 when none did

  bool Failed(uint32_t index) const;
};

/// The GID chosen, or why there is none.
struct GidChoice {
  std::optional<Gid> gid;
  GidAbsence absence = GidAbsence::kNone;
  int error = 0;  // with kQueriesFailed: the errno

  /// One line for people, "" when there is a GID.
  std::string Note() const;
};

/// A rescan against what was chosen before. A table that could not be read is never "unchanged".
enum class GidRescan { kUnchanged, kChanged, kFailed };

/// Rank of a non-null GID, 0 best … 6 worst; within a class the lowest index wins:
/// 0 netdev + routable; 1 routable; 2 netdev + private IPv4; 3 netdev + degraded (an overlay's
/// netdev, or link-local); 4 private IPv4; 5 degraded; 6 of a type that is only a last resort
/// (RoCE v1). InfiniBand GIDs are not degraded for being link-local.
int GidRank(const GidEntry& entry, std::string_view netdev);

/// Reads one port's table: with the whole-table verb, else slot by slot. `ports` is the device's
/// port count: the whole-table verb wants room for the slots of all of them.
GidTable ReadGidTable(const VerbsApi& api, ibv_context* context, uint32_t port, uint32_t length,
                      uint32_t ports);

/// Chooses from a table: the best rank, or the slot `index` when given. `netdev` is asked for
/// filled slots of Ethernet types only.
GidChoice ChooseGid(const GidTable& table, const GidNetdev& netdev,
                    std::optional<uint32_t> index = std::nullopt);

/// What a rescan means for the GID held `before`. Identity is (index, bytes).
GidRescan CompareGid(const std::optional<Gid>& before, const GidTable& table,
                     const GidChoice& after);

}  // namespace nicmon
