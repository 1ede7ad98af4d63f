// The body of POST /api/v1/simulator.
#include <cmath>

#include "http/json.h"
#include "http/json_reader.h"
#include "http/text.h"
#include "nicmon/base/errno_text.h"
#include "nicmon/verbs/events.h"

namespace nicmon::http::json {
namespace {

constexpr size_t kMaxCommands = 1000;

/// A state by its number or its name.
std::optional<int> State(Reader& reader, const char* key, std::string_view (*name)(int), int last) {
  const Parsed* value = reader.Find(key);
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
  if (const Parsed* speed = set.Find("effective_speed_gbps"); speed != nullptr) {
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

std::string ReadSet(const Parsed& json, SimCommand* out) {
  Reader set(json, "set ");
  out->state = State(set, "state", &PortStateName, 5);
  out->physical_state = State(set, "physical_state", &PhysicalStateName, 7);
  ReadSpeeds(set, out);
  if (const Parsed* counters = set.Find("counters"); counters != nullptr) {
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

std::string ReadFail(const Parsed& json, SimCommand* out) {
  Reader reader(json, "fail ");
  SimCommand::Fail fail;
  fail.verb = reader.RequiredString("verb");
  const Parsed* error = reader.Find("errno");
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

std::string ReadHang(const Parsed& json, SimCommand* out) {
  Reader reader(json, "hang ");
  SimCommand::Hang hang;
  hang.verb = reader.RequiredString("verb");
  const Parsed* seconds = reader.Find("seconds");
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
  const Parsed* event = reader.Find("event");
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

std::string ReadCommand(const Parsed& json, SimCommand* out) {
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
  const auto read = [&](const char* key, std::string (*function)(const Parsed&, SimCommand*)) {
    const Parsed* value = reader.Find(key);
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

std::string ParseSimulatorCommands(std::string_view body, std::vector<SimCommand>* out) {
  Parsed json;
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
