#include "http/render.h"

#include "http/refusals.h"
#include "http/text.h"

namespace nicmon::http {

Expected<bool> WantsText(const Call& call) {
  if (const std::string* format = call.Find("format"); format != nullptr) {
    if (*format != "text" && *format != "json") {
      return InvalidParameter("format is not known", "format=json or text");
    }
    return *format == "text";
  }
  const std::string* accept = call.request.Header("accept");
  if (accept == nullptr) {
    return false;
  }
  const double text = ListedQuality(*accept, "text/plain").value_or(0);
  return text > ListedQuality(*accept, "application/json").value_or(0);
}

}  // namespace nicmon::http
