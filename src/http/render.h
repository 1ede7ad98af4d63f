#pragma once

#include "http/message.h"
#include "http/service.h"

namespace nicmon::http {

/// Whether the client wants a table: `format` decides, else an Accept header that prefers plain
/// text to JSON. 400 for a format that is not known.
Expected<bool> WantsText(const Call& call);

/// What `text` or `json` gives, as the client wants it.
template <typename Text, typename Json>
Reply Render(const Call& call, Text text, Json json) {
  auto wants_text = WantsText(call);
  if (!wants_text) {
    return wants_text.error;
  }
  return *wants_text ? TextReply(200, text()) : JsonReply(200, json());
}

}  // namespace nicmon::http
