#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "nicmon/config/flags.h"

namespace nicmon {
namespace {

constexpr std::string_view kBegin = "<!-- flags: begin -->\n";
constexpr std::string_view kEnd = "<!-- flags: end -->\n";

std::string Cell(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) {
    text.insert(i, "\\");
  }
  return text;
}

std::string Code(const std::string& text) {
  return text.empty() ? "–" : "`" + Cell(text) + "`";
}

/// The table of docs/configuration.md as the flag table has it.
std::string Table() {
  std::string out =
      "| flag | environment | file | default | meaning |\n"
      "|---|---|---|---|---|\n";
  for (const FlagText& row : FlagTexts()) {
    std::string flag = row.flag;
    if (row.value_optional) {
      flag += "[=" + row.value_name + "]";
    } else if (!row.value_name.empty()) {
      flag += " " + row.value_name;
    }
    std::string meaning = row.help;
    if (!row.accepts.empty()) {
      meaning += ". Accepts " + row.accepts;
    }
    out += "| " + Code(flag) + " | " + Code(row.environment) + " | " + Code(row.key) + " | " +
           Code(row.default_text) + " | " + Cell(meaning) + " |\n";
  }
  return out;
}

TEST(Documentation, ConfigurationTableIsThatOfTheProgram) {
  std::ostringstream text;
  text << std::ifstream(NICMON_SOURCE_DIR "/docs/configuration.md").rdbuf();
  const std::string page = text.str();
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(page.substr(begin + kBegin.size(), end - begin - kBegin.size()), Table())
      << "put this between the markers of docs/configuration.md:\n"
      << Table();
}

}  // namespace
}  // namespace nicmon
