#include "nicmon/device/gid.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "nicmon/base/errno_text.h"

namespace nicmon {
namespace {

// A table read slot by slot is given up after this many failures in a row: a device that is gone
// would fail a thousand times.
constexpr uint32_t kMaxFailuresInARow = 8;

/// Interfaces of container networks. A GID on one leads through an overlay, or to nowhere.
constexpr std::array<std::string_view, 10> kOverlayPrefixes = {
    "flannel", "cni", "cali", "vxlan", "docker", "tunl", "cilium", "weave", "geneve", "virbr"};

bool IsNull(const ibv_gid& gid) {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw), [](uint8_t b) { return b == 0; });
}

bool IsOverlay(std::string_view netdev) {
  return std::any_of(kOverlayPrefixes.begin(), kOverlayPrefixes.end(),
                     [&](std::string_view prefix) { return netdev.starts_with(prefix); });
}

/// The IPv4 address of a mapped GID (::ffff:a.b.c.d) in host byte order.
std::optional<uint32_t> Ipv4(const ibv_gid& gid) {
  constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(gid.raw, kMapped, sizeof(kMapped)) != 0) {
    return std::nullopt;
  }
  return uint32_t{gid.raw[12]} << 24 | uint32_t{gid.raw[13]} << 16 | uint32_t{gid.raw[14]} << 8 |
         gid.raw[15];
}

bool IsPrivate(uint32_t ipv4) {
  return ipv4 >> 24 == 10 || ipv4 >> 20 == (172U << 4 | 1) || ipv4 >> 16 == (192U << 8 | 168);
}

bool IsLinkLocal(const ibv_gid& gid) {
  if (const auto ipv4 = Ipv4(gid)) {
    return *ipv4 >> 16 == (169U << 8 | 254);
  }
  return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;  // fe80::/10
}

bool TableCallUnsupported(int error) {
  // EINVAL too: the kernel's answer when it has more entries than there is room for, where the
  // ports of a device have tables of different lengths.
  return error == ENOSYS || error == EOPNOTSUPP || error == EPROTONOSUPPORT || error == ENOTTY ||
         error == EINVAL;
}

void ReadSlots(const VerbsApi& api, ibv_context* context, uint32_t port, GidTable* table) {
  uint32_t failures = 0;
  for (uint32_t index = 0; index < table->length; ++index) {
    if (failures == kMaxFailuresInARow) {
      table->failed.push_back(index);
      continue;
    }
    GidEntry entry;
    const int error = api.query_gid(context, port, index, &entry);
    if (error == 0) {
      entry.index = index;
      entry.port = port;
      table->entries.push_back(entry);
    } else if (error != ENODATA) {
      table->failed.push_back(index);
      table->error = error;
      ++failures;
      continue;
    }
    failures = 0;
  }
}

Gid MakeGid(const GidEntry& entry, std::string netdev) {
  Gid gid;
  gid.index = entry.index;
  std::copy(std::begin(entry.gid.raw), std::end(entry.gid.raw), gid.bytes.begin());
  gid.type = entry.type;
  gid.netdev = std::move(netdev);
  return gid;
}

std::string NetdevOf(const GidEntry& entry, const GidNetdev& netdev) {
  return entry.type == IBV_GID_TYPE_IB || !netdev ? "" : netdev(entry.index);
}

GidChoice Absent(GidAbsence absence, int error = 0) {
  return {std::nullopt, absence, error};
}

GidChoice ChooseExplicit(const GidTable& table, const GidNetdev& netdev, uint32_t index) {
  if (index >= table.length) {
    return Absent(GidAbsence::kIndexOutOfRange);
  }
  if (table.Failed(index)) {
    return Absent(GidAbsence::kQueriesFailed, table.error);
  }
  for (const GidEntry& entry : table.entries) {
    if (entry.index == index && !IsNull(entry.gid)) {
      return {MakeGid(entry, NetdevOf(entry, netdev))};
    }
  }
  return Absent(GidAbsence::kIndexEmpty);
}

}  // namespace

bool GidTable::Failed(uint32_t index) const {
  return all_failed || std::find(failed.begin(), failed.end(), index) != failed.end();
}

std::string GidChoice::Note() const {
  switch (absence) {
    case GidAbsence::kNone:
      return "";
    case GidAbsence::kEmptyTable:
      return "the GID table is empty";
    case GidAbsence::kAllNull:
      return "all GIDs are zero";
    case GidAbsence::kQueriesFailed:
      return "reading the GID table failed: " + ErrnoText(error);
    case GidAbsence::kIndexOutOfRange:
      return "the GID index asked for is out of range";
    case GidAbsence::kIndexEmpty:
      return "the GID index asked for is an empty slot";
  }
  return "";
}

int GidRank(const GidEntry& entry, std::string_view netdev) {
  const bool infiniband = entry.type == IBV_GID_TYPE_IB;
  if (!infiniband && entry.type != IBV_GID_TYPE_ROCE_V2) {
    return 6;
  }
  const bool has_netdev = !netdev.empty();
  if (IsOverlay(netdev) || (!infiniband && IsLinkLocal(entry.gid))) {
    return has_netdev ? 3 : 5;
  }
  if (const auto ipv4 = Ipv4(entry.gid); ipv4 && IsPrivate(*ipv4)) {
    return has_netdev ? 2 : 4;
  }
  return has_netdev ? 0 : 1;
}

GidTable ReadGidTable(const VerbsApi& api, ibv_context* context, uint32_t port, uint32_t length,
                      uint32_t ports) {
  GidTable table;
  table.length = length;
  if (length == 0) {
    return table;
  }
  std::vector<GidEntry> all;
  const int error = api.query_gid_table
                        ? api.query_gid_table(context, size_t{length} * std::max(ports, 1U), &all)
                        : ENOSYS;
  if (TableCallUnsupported(error)) {
    ReadSlots(api, context, port, &table);
    return table;
  }
  table.error = error;
  table.all_failed = error != 0;
  if (error == 0) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(table.entries),
                 [port](const GidEntry& entry) { return entry.port == port; });
    std::sort(table.entries.begin(), table.entries.end(),
              [](const GidEntry& a, const GidEntry& b) { return a.index < b.index; });
  }
  return table;
}

GidChoice ChooseGid(const GidTable& table, const GidNetdev& netdev, std::optional<uint32_t> index) {
  if (index) {
    return ChooseExplicit(table, netdev, *index);
  }
  GidChoice best;
  int best_rank = 0;
  for (const GidEntry& entry : table.entries) {
    if (IsNull(entry.gid)) {
      continue;
    }
    std::string name = NetdevOf(entry, netdev);
    const int rank = GidRank(entry, name);
    if (!best.gid || rank < best_rank) {
      best.gid = MakeGid(entry, std::move(name));
      best_rank = rank;
    }
  }
  if (best.gid) {
    return best;
  }
  if (table.all_failed || !table.failed.empty()) {
    return Absent(GidAbsence::kQueriesFailed, table.error);
  }
  return Absent(table.entries.empty() ? GidAbsence::kEmptyTable : GidAbsence::kAllNull);
}

GidRescan CompareGid(const std::optional<Gid>& before, const GidTable& table,
                     const GidChoice& after) {
  const bool same = before && after.gid
                        ? before->index == after.gid->index && before->bytes == after.gid->bytes
                        : !before && !after.gid;
  if (after.absence == GidAbsence::kQueriesFailed || (before && table.Failed(before->index))) {
    return GidRescan::kFailed;
  }
  return same ? GidRescan::kUnchanged : GidRescan::kChanged;
}

}  // namespace nicmon
