#include "nicmon/device/port_values.h"

namespace nicmon {

std::string_view SpeedSourceName(SpeedSource source) {
  switch (source) {
    case SpeedSource::kVerb:
      return "verb";
    case SpeedSource::kEncoded:
      return "encoded";
    case SpeedSource::kNetdev:
      return "netdev";
    case SpeedSource::kBond:
      return "bond";
    case SpeedSource::kSysfs:
      return "sysfs";
  }
  return "";
}

}  // namespace nicmon
