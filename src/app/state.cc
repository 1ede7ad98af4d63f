#include "nicmon/app/state.h"

#include <fstream>
#include <random>
#include <string_view>

#include "nicmon/base/log.h"
#include "nicmon/base/text.h"
#include "nicmon/monitor/holds_file.h"

namespace nicmon {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return CleanLine(line);
}

/// 14 million of them, without letters that are taken for others when somebody reads them out.
std::string RandomSeries() {
  constexpr std::string_view kLetters = "23456789bcdfghjkmnpqrstvwxz";
  std::random_device random;
  std::uniform_int_distribution<size_t> index(0, kLetters.size() - 1);
  std::string series;
  for (int i = 0; i < 5; ++i) {
    series += kLetters[index(random)];
  }
  return series;
}

}  // namespace

std::shared_ptr<const StateDirectory> OpenState(const Config& config) {
  const bool unasked = config.simulate && !config.state_dir_given;
  if (config.state_dir.empty() || unasked) {
    log::Info("holds and releases are kept in memory, they end with the process");
    return nullptr;
  }
  try {
    return std::make_shared<const StateDirectory>(config.state_dir);
  } catch (const UnusableDirectory& error) {
    if (config.state_dir_given) {
      throw;
    }
    log::Warning("holds and releases are kept in memory, they end with the process",
                 {{"reason", error.what()}});
    return nullptr;
  }
}

HoldsHome MakeHoldsHome(const std::shared_ptr<const StateDirectory>& directory,
                        const std::string& root) {
  HoldsHome home;
  home.machine_id = FirstLine(root + "/etc/machine-id");
  home.id_series = RandomSeries();
  home.boot_id = FirstLine(root + "/proc/sys/kernel/random/boot_id");
  if (directory) {
    home.file = std::make_shared<HoldsFile>(directory);
  }
  return home;
}

}  // namespace nicmon
