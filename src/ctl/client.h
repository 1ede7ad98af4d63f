#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ctl/endpoint.h"

namespace nicmon::ctl {

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// The flags of these names that were given, as the parameters of the same names.
Parameters Given(const Invocation& invocation, std::initializer_list<const char*> names);

/// What came back from one request.
struct Answer {
  int status = 0;  // 0: nothing, and `problem` says why in one line
  std::string body;
  std::string reason;  // X-Nicmon-Reason: why nothing can be selected
  std::string count;   // X-Nicmon-Count: how many ports are
  std::string problem;

  bool ok() const { return status >= 200 && status < 300; }
};

/// HTTP requests to one nicmon, one after the other.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  ~Client();

  /// `path` must be encoded. Parameters go into the query of GET and DELETE, the form of the
  /// others.
  Answer Get(const std::string& path, const Parameters& parameters = {});
  Answer Post(const std::string& path, const Parameters& parameters = {});
  Answer Put(const std::string& path, const Parameters& parameters = {});
  Answer Delete(const std::string& path, const Parameters& parameters = {});
  /// GET of a reply without end: `receive` gets pieces as they come, and ends it with false. What
  /// is no success goes into the answer's body as always.
  Answer Stream(const std::string& path, const std::function<bool(std::string_view)>& receive);

 private:
  class Http;
  const Endpoint endpoint_;
  const std::unique_ptr<Http> http_;
};

}  // namespace nicmon::ctl
