#include "http/json_reader.h"

#include <utility>
#include <vector>

#include "http/json.h"
#include "http/text.h"

namespace nicmon::http::json {
namespace {

constexpr int kMaxDepth = 8;

/// Depth of nesting, seen before the parser allocates anything.
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) {
        return true;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::string Parse(std::string_view text, Parsed* out) {
  if (TooDeep(text)) {
    return "the JSON is nested too deeply";
  }
  std::string repeated;
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int /*depth*/, Parsed::parse_event_t event, Parsed& parsed) {
    if (event == Parsed::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Parsed::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Parsed::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!keys.back().insert(key).second) {
        repeated = key;
      }
    }
    return true;
  };
  *out = Parsed::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (out->is_discarded()) {
    return "the body is not valid JSON";
  }
  return repeated.empty() ? "" : "\"" + Printable(repeated) + "\" is given twice";
}

Reader::Reader(const Parsed& json, std::string where) : json_(json), where_(std::move(where)) {
  if (!json.is_object()) {
    Fail("is not an object");
  }
}

const Parsed* Reader::Find(const char* key) {
  known_.insert(key);
  const auto found = json_.is_object() ? json_.find(key) : json_.end();
  return json_.is_object() && found != json_.end() && !found->is_null() ? &*found : nullptr;
}

std::optional<std::string> Reader::String(const char* key) {
  const Parsed* value = Find(key);
  if (value != nullptr && !value->is_string()) {
    Fail(std::string(key) + " wants a string");
    return std::nullopt;
  }
  return value != nullptr ? std::optional(value->get<std::string>()) : std::nullopt;
}

std::string Reader::RequiredString(const char* key) {
  auto value = String(key);
  if (!value) {
    Fail(std::string(key) + " is missing");
  }
  return value.value_or("");
}

std::optional<uint64_t> Reader::Number(const char* key, uint64_t max) {
  const Parsed* value = Find(key);
  return value != nullptr ? NumberOf(key, *value, max) : std::nullopt;
}

std::optional<uint64_t> Reader::NumberOf(const std::string& key, const Parsed& value,
                                         uint64_t max) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > max) {
    Fail(key + " wants a whole number up to " + std::to_string(max));
    return std::nullopt;
  }
  return value.get<uint64_t>();
}

bool Reader::True(const char* key) {
  const Parsed* value = Find(key);
  if (value != nullptr && !value->is_boolean()) {
    Fail(std::string(key) + " wants true or false");
  }
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

void Reader::Fail(const std::string& what) {
  if (error_.empty()) {
    error_ = where_ + what;
  }
}

std::string Reader::Finish() {
  for (const auto& [key, value] : json_.items()) {
    if (json_.is_object() && known_.count(key) == 0) {
      Fail("has an unknown key \"" + Printable(key) + "\"");
    }
  }
  return error_;
}

std::string ParseParameters(std::string_view body,
                            std::vector<std::pair<std::string, std::string>>* out) {
  Parsed json;
  if (const std::string error = Parse(body, &json); !error.empty()) {
    return error;
  }
  if (!json.is_object()) {
    return "the JSON body is not an object";
  }
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) {
      continue;
    }
    if (value.is_structured()) {
      return "\"" + Printable(key) + "\" wants a string, a number or a boolean";
    }
    out->emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return "";
}

}  // namespace nicmon::http::json
