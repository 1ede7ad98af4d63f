#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
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

  explicit EventSource(const std::string& target) : client_(target) {
    client_.Send("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
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
  std::optional<std::string> Until(const std::string& end) {
    for (;;) {
      if (const size_t at = buffer_.find(end); at != std::string::npos) {
        std::string text = buffer_.substr(0, at + end.size() - 1);
        buffer_.erase(0, at + end.size());
        return text;
      }
      pollfd entry{client_.fd(), POLLIN, 0};
      std::array<char, 65536> chunk;
      if (::poll(&entry, 1, 10'000) <= 0) {
        return std::nullopt;
      }
      const ssize_t n = ::recv(client_.fd(), chunk.data(), chunk.size(), 0);
      if (n <= 0) {
        return std::nullopt;
      }
      buffer_.append(chunk.data(), static_cast<size_t>(n));
    }
  }

  RawClient client_;
  std::string buffer_;
};

}  // namespace nicmon::http
