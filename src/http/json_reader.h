#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

/// Reading JSON that others sent. For json_*.cc only.
namespace nicmon::http::json {

using Parsed = nlohmann::json;

/// Parses; empty on success, else one line. A repeated key is an error: which one counts differs
/// from parser to parser.
std::string Parse(std::string_view text, Parsed* out);

/// Reads the members of one object; the first thing wrong is kept. null counts as left out.
class Reader {
 public:
  /// `where` stands in front of what is wrong. `json` outlives the reader.
  Reader(const Parsed& json, std::string where);

  /// nullptr when it is left out. Whoever asks for a key makes it a known one.
  const Parsed* Find(const char* key);
  std::optional<std::string> String(const char* key);
  std::string RequiredString(const char* key);
  std::optional<uint64_t> Number(const char* key, uint64_t max = UINT32_MAX);
  std::optional<uint64_t> NumberOf(const std::string& key, const Parsed& value, uint64_t max);
  bool True(const char* key);
  void Fail(const std::string& what);
  /// The first error, or the name of a key that nothing has asked for.
  std::string Finish();

 private:
  const Parsed& json_;
  const std::string where_;
  std::set<std::string> known_;
  std::string error_;
};

}  // namespace nicmon::http::json
