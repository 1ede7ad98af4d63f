#include "nicmon/verbs/query_port.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace nicmon {
namespace {

// struct ibv_port_attr ends at 52 bytes before rdma-core 50; then active_speed_ex follows. The
// library is told how much room there is and writes no more than it knows.
constexpr size_t kSpeedExOffset = 52;
constexpr size_t kBufferSize = 128;

template <typename T>
consteval bool LayoutIsAsExpected() {
  if constexpr (requires(T attributes) { attributes.active_speed_ex; }) {
    return offsetof(T, active_speed_ex) == kSpeedExOffset &&
           sizeof(T) >= kSpeedExOffset + sizeof(uint32_t) && sizeof(T) <= kBufferSize;
  } else {
    return sizeof(T) == kSpeedExOffset;
  }
}
static_assert(LayoutIsAsExpected<ibv_port_attr>());

}  // namespace

int EvenOut(int result) {
  if (result >= 0) {
    return result;
  }
  if (result == -1) {
    return errno != 0 ? errno : EIO;
  }
  return -result;
}

int QueryPortAttributes(ibv_context* context, uint32_t port, LegacyQueryPort legacy,
                        PortAttributes* out) {
  if (port == 0 || port > UINT8_MAX) {
    return EINVAL;
  }
  alignas(ibv_port_attr) unsigned char buffer[kBufferSize] = {};
  auto* attributes = reinterpret_cast<ibv_port_attr*>(buffer);
  const auto number = static_cast<uint8_t>(port);
  errno = 0;
  const verbs_context* operations = verbs_get_ctx_op(context, query_port);
  const int error = EvenOut(
      operations != nullptr ? operations->query_port(context, number, attributes, sizeof(buffer))
                            : legacy(context, number, buffer));
  if (error != 0) {
    return error;
  }
  out->state = static_cast<int>(attributes->state);
  out->physical_state = attributes->phys_state;
  out->active_speed = attributes->active_speed;
  std::memcpy(&out->active_speed_ex, buffer + kSpeedExOffset, sizeof(out->active_speed_ex));
  out->active_width = attributes->active_width;
  out->active_mtu = static_cast<int>(attributes->active_mtu);
  out->max_mtu = static_cast<int>(attributes->max_mtu);
  out->lid = attributes->lid;
  out->sm_lid = attributes->sm_lid;
  out->link_layer = attributes->link_layer;
  out->gid_table_length = attributes->gid_tbl_len;
  return 0;
}

std::string LibraryVersion(const std::string& path) {
  // libibverbs.so.1.<private ABI>.<rdma-core version>
  constexpr const char* kPrefix = "libibverbs.so.1.";
  const size_t prefix = path.rfind(kPrefix);
  if (prefix == std::string::npos) {
    return "unknown";
  }
  const std::string numbers = path.substr(prefix + std::strlen(kPrefix));
  const size_t dot = numbers.find('.');
  const bool plausible = dot != std::string::npos && dot + 1 < numbers.size() &&
                         numbers.find_first_not_of("0123456789.") == std::string::npos;
  return plausible ? numbers.substr(dot + 1) : "unknown";
}

}  // namespace nicmon
