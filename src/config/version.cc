#include "nicmon/config/version.h"

#include "nicmon_revision.h"

namespace nicmon {

std::string Version() {
  return NICMON_VERSION;
}
std::string Revision() {
  return NICMON_REVISION_TEXT;
}
std::string LibibverbsHeaderVersion() {
  return NICMON_LIBIBVERBS_HEADERS;
}

}  // namespace nicmon
