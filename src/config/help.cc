#include "help.h"

#include <sstream>

#include "nicmon/config/flags.h"
#include "nicmon/config/version.h"

namespace nicmon::config {
namespace {

constexpr size_t kLeft = 32;  // where descriptions begin
constexpr size_t kRight = 96;

/// Appends `text` word by word, in lines from column kLeft to kRight; the first line has
/// `column` characters already.
void AppendWrapped(std::string& out, const std::string& text, size_t column) {
  if (column >= kLeft) {
    out += '\n';
    column = 0;
  }
  out.append(kLeft - column, ' ');
  column = kLeft;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > kLeft && column + 1 + word.size() > kRight) {
      out += '\n';
      out.append(kLeft, ' ');
      column = kLeft;
    } else if (column > kLeft) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

std::string Left(const FlagText& flag) {
  std::string left = "  " + flag.flag;
  if (flag.value_optional) {
    left += "[=" + flag.value_name + "]";
  } else if (!flag.value_name.empty()) {
    left += " " + flag.value_name;
  }
  return left;
}

}  // namespace

std::string HelpText() {
  std::string out =
      "Usage: nicmon [FLAG]...\n"
      "       nicmon ctl COMMAND...   asks the nicmon that runs here, see nicmon ctl --help\n"
      "Watches the RDMA ports of this node: metrics for Prometheus, JSON and a status page for\n"
      "people, operator commands over curl.\n\n";
  for (const FlagText& flag : FlagTexts()) {
    const std::string left = Left(flag);
    std::string text = flag.help;
    if (!flag.accepts.empty()) {
      text += "; accepts " + flag.accepts;
    }
    if (!flag.default_text.empty()) {
      text += " (default " + flag.default_text + ")";
    }
    out += left;
    AppendWrapped(out, text, left.size());
  }
  out +=
      "\nA flag may be given as environment variable (--log-level: NICMON_LOG_LEVEL) or as a line\n"
      "of the --config file (log-level = debug) too, except --simulate and --simulate-force. The\n"
      "strongest source wins: flag, environment, file, default.\n"
      "Exit codes: 0 clean stop, 1 runtime failure, 2 wrong flag or setting.\n";
  return out;
}

std::string VersionText() {
  return "nicmon " + Version() + "\nrevision " + Revision() + "\nbuilt with libibverbs headers " +
         LibibverbsHeaderVersion() + "\n";
}

}  // namespace nicmon::config
