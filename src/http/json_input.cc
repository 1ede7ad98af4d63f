#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "http/json.h"
#include "http/text.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/verbs/events.h"

namespace nicmon::http::json {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 8;
constexpr size_t kMaxCommands = 1000;

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

/// Parses; empty on success, else one line. A repeated key is an error: which one counts differs
/// from parser to parser.
std::string Parse(std::string_view text, Json* out) {
  if (TooDeep(text)) {
    return "the JSON is nested too deeply";
  }
  std::string repeated;
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!keys.back().insert(key).second) {
        repeated = key;
      }
    }
    return true;
  };
  *out = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (out->is_discarded()) {
    return "the body is not valid JSON";
  }
  return repeated.empty() ? "" : "\"" + Printable(repeated) + "\" is given twice";
}

/// Reads the members of one object; the first thing wrong is kept.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) {
      Fail("is not an object");
    }
  }

  const Json* Find(const char* key) {
    known_.insert(key);
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    return json_.is_object() && found != json_.end() && !found->is_null() ? &*found : nullptr;
  }
  std::optional<std::string> String(const char* key) {
    const Json* value = Find(key);
    if (value != nullptr && !value->is_string()) {
      Fail(std::string(key) + " wants a string");
      return std::nullopt;
    }
    return value != nullptr ? std::optional(value->get<std::string>()) : std::nullopt;
  }
  std::optional<uint64_t> Number(const char* key, uint64_t max = UINT32_MAX) {
    const Json* value = Find(key);
    return value != nullptr ? NumberOf(key, *value, max) : std::nullopt;
  }
  std::optional<uint64_t> NumberOf(const std::string& key, const Json& value, uint64_t max) {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > max) {
      Fail(key + " wants a whole number up to " + std::to_string(max));
      return std::nullopt;
    }
    return value.get<uint64_t>();
  }
  bool True(const char* key) {
    const Json* value = Find(key);
    if (value != nullptr && !value->is_boolean()) {
      Fail(std::string(key) + " wants true or false");
    }
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  std::string RequiredString(const char* key) {
    auto value = String(key);
    if (!value) {
      Fail(std::string(key) + " is missing");
    }
    return value.value_or("");
  }
  void Fail(const std::string& what) {
    if (error_.empty()) {
      error_ = where_ + what;
    }
  }
  /// The first error, or the name of a key that nothing has asked for.
  std::string Finish() {
    for (const auto& [key, value] : json_.items()) {
      if (json_.is_object() && known_.count(key) == 0) {
        Fail("has an unknown key \"" + Printable(key) + "\"");
      }
    }
    return error_;
  }

 private:
  const Json& json_;
  const std::string where_;
  std::set<std::string> known_;
  std::string error_;
};

/// A state by its number or its name.
std::optional<int> State(Reader& reader, const char* key, std::string_view (*name)(int), int last) {
  const Json* value = reader.Find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->is_string()) {
    for (int number = 0; number <= last; ++number) {
      if (name(number) == value->get<std::string>()) {
        return number;
      }
    }
    reader.Fail(std::string(key) + " has no state of that name");
    return std::nullopt;
  }
  const auto number = reader.NumberOf(key, *value, 255);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

void ReadSpeeds(Reader& set, SimCommand* out) {
  if (const Json* speed = set.Find("effective_speed_gbps"); speed != nullptr) {
    if (!speed->is_number() || speed->get<double>() < 0 || speed->get<double>() > 1e6) {
      set.Fail("effective_speed_gbps wants a number of Gb/s");
    } else {
      out->effective_speed_100mbps = static_cast<uint64_t>(std::llround(speed->get<double>() * 10));
    }
  }
  const auto code = [&set](const char* key) -> std::optional<uint32_t> {
    const auto value = set.Number(key);
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
  };
  out->active_speed = code("active_speed");
  out->active_speed_ex = code("active_speed_ex");
  out->active_width = code("active_width");
}

std::string ReadSet(const Json& json, SimCommand* out) {
  Reader set(json, "set ");
  out->state = State(set, "state", &PortStateName, 5);
  out->physical_state = State(set, "physical_state", &PhysicalStateName, 7);
  ReadSpeeds(set, out);
  if (const Json* counters = set.Find("counters"); counters != nullptr) {
    if (!counters->is_object()) {
      set.Fail("counters is not an object");
    } else {
      for (const auto& [name, value] : counters->items()) {
        out->counters[name] =
            set.NumberOf("counter " + Printable(name), value, UINT64_MAX).value_or(0);
      }
    }
  }
  return set.Finish();
}

std::string ReadFail(const Json& json, SimCommand* out) {
  Reader reader(json, "fail ");
  SimCommand::Fail fail;
  fail.verb = reader.RequiredString("verb");
  const Json* error = reader.Find("errno");
  if (error != nullptr && error->is_string()) {
    const auto number = ErrnoFromName(error->get<std::string>());
    fail.error = number.value_or(0);
    if (!number) {
      reader.Fail("errno has no error of that name");
    }
  } else if (error != nullptr) {
    fail.error = static_cast<int>(reader.NumberOf("errno", *error, 4095).value_or(0));
  } else {
    reader.Fail("errno is missing");
  }
  fail.times = static_cast<uint32_t>(reader.Number("times").value_or(1));
  fail.skip = static_cast<uint32_t>(reader.Number("skip").value_or(0));
  out->fail = fail;
  return reader.Finish();
}

std::string ReadHang(const Json& json, SimCommand* out) {
  Reader reader(json, "hang ");
  SimCommand::Hang hang;
  hang.verb = reader.RequiredString("verb");
  const Json* seconds = reader.Find("seconds");
  if (seconds == nullptr || !seconds->is_number() || seconds->get<double>() < 0 ||
      seconds->get<double>() > 86'400) {
    reader.Fail("seconds wants a number from 0 to 86400");
  } else {
    hang.duration =
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds->get<double>()));
  }
  out->hang = hang;
  return reader.Finish();
}

/// By libibverbs' name without its prefix, "PORT_ERR" or "port_err".
std::optional<int> EventNumberFromName(std::string_view name) {
  for (const EventType& type : EventTypes()) {
    if (type.name == Lower(name)) {
      return type.number;
    }
  }
  return std::nullopt;
}

std::optional<int> EventNumber(Reader& reader) {
  const Json* event = reader.Find("event");
  if (event == nullptr) {
    return std::nullopt;
  }
  if (!event->is_string()) {
    const auto number = reader.NumberOf("event", *event, 65'535);
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }
  const auto number = EventNumberFromName(event->get<std::string>());
  if (!number) {
    reader.Fail("event has no event of that name");
  }
  return number;
}

std::string ReadCommand(const Json& json, SimCommand* out) {
  Reader reader(json, "");
  out->device = reader.RequiredString("device");
  if (const auto port = reader.Number("port"); port) {
    out->port = static_cast<uint32_t>(*port);
  }
  out->event = EventNumber(reader);
  out->repeat = static_cast<uint32_t>(reader.Number("repeat", 10'000'000).value_or(1));
  out->unplug = reader.True("unplug");
  out->silent = reader.True("silent");
  out->plug = reader.True("plug");
  out->rename = reader.String("rename");
  std::string nested;
  const auto read = [&](const char* key, std::string (*function)(const Json&, SimCommand*)) {
    const Json* value = reader.Find(key);
    if (value != nullptr && nested.empty()) {
      nested = function(*value, out);
    }
  };
  read("set", &ReadSet);
  read("fail", &ReadFail);
  read("hang", &ReadHang);
  const std::string error = reader.Finish();
  return error.empty() ? nested : error;
}

}  // namespace

std::string ParseParameters(std::string_view body,
                            std::vector<std::pair<std::string, std::string>>* out) {
  Json json;
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

std::string ParseSimulatorCommands(std::string_view body, std::vector<SimCommand>* out) {
  Json json;
  if (const std::string error = Parse(body, &json); !error.empty()) {
    return error;
  }
  const bool list = json.is_array();
  const size_t count = list ? json.size() : 1;
  if (count > kMaxCommands) {
    return "more than 1000 commands in one list";
  }
  for (size_t i = 0; i < count; ++i) {
    SimCommand command;
    const std::string error = ReadCommand(list ? json[i] : json, &command);
    if (!error.empty()) {
      return (list ? "command " + std::to_string(i) + ": " : "") + error;
    }
    out->push_back(std::move(command));
  }
  return "";
}

}  // namespace nicmon::http::json
