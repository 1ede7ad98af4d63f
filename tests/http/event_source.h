#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "http/raw_client.h"

namespace nicmon::http {

/// A client of the event stream.
class EventSource {
 public:
  using Json = nlohmann::json;
  struct Event {
    std::string name;  // "comment" of a comment
    std::string id;
    Json data;
  };

  explicit EventSource(const std::string& target) : client_(target) { Ask(""); }
  EventSource(const std::string& target, const ClientTls& tls, const std::string& headers = "")
      : client_(target, tls) {
    Ask(headers);
  }

  /// The head of the reply; empty when none comes.
  std::string Head() { return Until("\r\n\r\n").value_or(""); }

  /// The next event; one named "" when the connection ends or nothing comes for 10 s.
  Event Next() {
    const auto text = Until("\n\n");
    Event event;
    for (size_t at = 0; text && at < text->size();) {
      const size_t end = text->find('\n', at);
      const std::string line = text->substr(at, end - at);
      const std::string value = line.substr(std::min(line.size(), line.find(':') + 2));
      if (line.rfind("event:", 0) == 0) {
        event.name = value;
      } else if (line.rfind("id:", 0) == 0) {
        event.id = value;
      } else if (line.rfind("data:", 0) == 0) {
        event.data = Json::parse(value);
      } else {
        event.name = line[0] == ':' ? "comment" : line;
      }
      at = end + 1;
    }
    return event;
  }

  /// Takes the head, the interval for asking again and the snapshot.
  Event Begin() {
    Head();
    Next();
    return Next();
  }

  /// The next event of that name, others left out.
  Event Next(const std::string& name) {
    for (;;) {
      Event event = Next();
      if (event.name == name || event.name.empty()) {
        return event;
      }
    }
  }

  /// Whether the other end closes the connection within 10 s.
  bool WaitClosed() { return client_.WaitClosed(); }

 private:
  void Ask(const std::string& headers) {
    client_.Send("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  }
  std::optional<std::string> Until(const std::string& end) {
    for (;;) {
      if (const size_t at = buffer_.find(end); at != std::string::npos) {
        std::string text = buffer_.substr(0, at + end.size() - 1);
        buffer_.erase(0, at + end.size());
        return text;
      }
      if (!client_.ReceiveSome(&buffer_)) {
        return std::nullopt;
      }
    }
  }

  RawClient client_;
  std::string buffer_;
};

}  // namespace nicmon::http
