#include "nicmon/monitor/holds_file.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include "nicmon/base/clock.h"
#include "nicmon/base/errno_text.h"

namespace nicmon {
namespace {

constexpr char kName[] = "holds.json";
constexpr char kBroken[] = "holds.json.broken-";
/// Some hundred bytes a port; more than that is no file of ours.
constexpr size_t kMaxBytes = size_t{4} << 20;

/// "2026-01-31T235959Z": no colons, which some tools take for a host.
std::string FileTime(int64_t seconds) {
  std::string text = Rfc3339(WallTime(std::chrono::seconds(seconds)));
  text = text.substr(0, text.find('.')) + "Z";
  std::erase(text, ':');
  return text;
}

}  // namespace

HoldsFile::HoldsFile(std::shared_ptr<const StateDirectory> directory)
    : directory_(std::move(directory)) {}

HoldsFile::Content HoldsFile::Read() const {
  StateDirectory::Content content = directory_->Read(kName, kMaxBytes);
  if (content.error == ENOENT) {
    return {};
  }
  if (content.error != 0) {
    return {std::nullopt, ErrnoText(content.error)};
  }
  return {std::move(content.text), {}};
}

std::string HoldsFile::KeepBroken() {
  // By the time of its last change: a start that finds the same file again keeps it once.
  keep_as_ = kBroken + FileTime(directory_->ChangedAt(kName));
  std::string name = keep_as_;
  (void)Keep();  // tried again before the first write
  return name;
}

int HoldsFile::Keep() {
  const int error = keep_as_.empty() ? 0 : directory_->KeepAs(kName, keep_as_);
  if (error == 0) {
    keep_as_.clear();
  }
  return error;
}

std::string HoldsFile::Write(std::string_view text, const std::function<bool()>& wanted) {
  int error = Keep();
  if (error == 0) {
    error = directory_->Replace(kName, text, wanted);
  }
  return error == 0 ? "" : path() + ": " + ErrnoText(error);
}

bool HoldsFile::BrokenBeside() const {
  return !keep_as_.empty() || !directory_->List(kBroken).empty();
}

std::string HoldsFile::path() const {
  return directory_->path() + "/" + kName;
}

}  // namespace nicmon
