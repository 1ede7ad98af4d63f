#include "merge.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "config_file.h"
#include "existence.h"
#include "values.h"

namespace nicmon::config {
namespace {

constexpr std::string_view kEnvironmentPrefix = "NICMON_";
constexpr std::string_view kCtlPrefix = "NICMON_CTL_";  // for the other half of the program

Source FlagSource(const Row& row) {
  return {"flag", "flag --" + std::string(row.name)};
}
Source EnvironmentSource(const std::string& name) {
  return {"environment", "environment variable " + name};
}

/// A setting as a value in the file; nullopt for text that the file's syntax has no way to hold.
std::optional<std::string> FileValue(const std::string& text) {
  const bool plain = !text.starts_with('"') && !text.starts_with('#') && Trim(text) == text &&
                     text.find(" #") == std::string::npos && text.find("\t#") == std::string::npos;
  if (text.find('\n') != std::string::npos || (!plain && text.find('"') != std::string::npos)) {
    return std::nullopt;
  }
  return plain ? text : '"' + text + '"';
}

}  // namespace

size_t IndexOf(std::string_view name) {
  const auto rows = Rows();
  return static_cast<size_t>(
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; }) -
      rows.begin());
}

std::optional<std::string> Variable(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > name.size() + 1 && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

Merge::Merge() : settings_(Rows().size()) {
  for (size_t i = 0; i < settings_.size(); ++i) {
    settings_[i] = {std::string(Rows()[i].default_text), {"default", "default"}};
  }
}

bool Merge::Set(size_t index, const std::vector<std::string>& values, const Source& source) {
  const Row& row = Rows()[index];
  Setting setting{{}, source};
  if (row.kind == Kind::kList) {
    config_.expect_speed.clear();
  }
  for (const std::string& value : values) {
    const bool empty_is_fine = row.kind == Kind::kOptionalValue;
    if (value.empty() && !empty_is_fine) {
      return Fail(source.where + ": the value is empty, give " + std::string(row.accepts));
    }
    std::string why;
    if (row.set != nullptr && !row.set(config_, value, why)) {
      return Reject(row, value, source, why);
    }
    const bool append = row.kind == Kind::kList && !setting.text.empty();
    setting.text = append ? setting.text + ", " + value : value.empty() ? "true" : value;
  }
  settings_[index] = std::move(setting);
  return true;
}

bool Merge::Reject(const Row& row, const std::string& value, const Source& source,
                   const std::string& why) {
  return Fail(source.where + ": " + log::Quoted(value) + " is not accepted" +
              (why.empty() ? "" : " (" + why + ")") + ", give " + std::string(row.accepts));
}

bool Merge::Fail(std::string error) {
  error_ = std::move(error);
  return false;
}

bool Merge::ConfigFile(const Arguments& arguments, const char* const* environment) {
  const Row& row = Rows()[IndexOf("config")];
  const auto& flags = arguments.values[IndexOf("config")];
  if (!flags.empty()) {
    return File(flags.back(), FlagSource(row));
  }
  const std::string name = EnvironmentName(row);
  const auto path = Variable(environment, name);
  return !path || File(*path, EnvironmentSource(name));
}

bool Merge::File(const std::string& path, const Source& source) {
  const Row& row = Rows()[IndexOf("config")];
  if (path.empty()) {
    return Fail(source.where + ": the value is empty, give " + std::string(row.accepts));
  }
  const auto contents = ReadConfigFile(path);
  if (!contents.unreadable.empty()) {
    return Reject(row, path, source, contents.unreadable);
  }
  return contents.error.empty() ? Entries(path, contents.entries) : Fail(contents.error);
}

bool Merge::Entries(const std::string& path, const std::vector<FileEntry>& entries) {
  std::vector<std::vector<std::string>> values(Rows().size());
  std::vector<Source> sources(Rows().size());
  for (const FileEntry& entry : entries) {
    const std::string line = path + ":" + std::to_string(entry.line) + ": ";
    const size_t index = IndexOf(entry.key);
    if (index == Rows().size() || Rows()[index].sources != Sources::kAll) {
      return Fail(line + "unknown key " + log::Quoted(entry.key) +
                  ", keys are the long flags without dashes, see nicmon --help");
    }
    if (!values[index].empty() && Rows()[index].kind != Kind::kList) {
      return Fail(line + entry.key + ": given twice, first as " +
                  log::Quoted(values[index].front()));
    }
    values[index].push_back(entry.value);
    sources[index] = {"file", line + entry.key};
    // Each line by itself, so that an error names its own line.
    if (!Set(index, {entry.value}, sources[index])) {
      return false;
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].size() > 1 && !Set(i, values[i], sources[i])) {
      return false;
    }
  }
  return true;
}

bool Merge::Environment(const char* const* environment) {
  std::vector<std::string> known;
  for (size_t i = 0; i < Rows().size(); ++i) {
    const std::string name = EnvironmentName(Rows()[i]);
    known.push_back(name);
    const auto value = name.empty() ? std::nullopt : Variable(environment, name);
    if (value && !Set(i, {*value}, EnvironmentSource(name))) {
      return false;
    }
  }
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string name(entry.substr(0, entry.find('=')));
    if (name.starts_with(kEnvironmentPrefix) && !name.starts_with(kCtlPrefix) &&
        std::find(known.begin(), known.end(), name) == known.end()) {
      config_.warnings.push_back("environment variable " + name + " is not known and ignored");
    }
  }
  return true;
}

bool Merge::Flags(const Arguments& arguments) {
  for (size_t i = 0; i < Rows().size(); ++i) {
    const Row& row = Rows()[i];
    std::vector<std::string> values = arguments.values[i];
    if (row.kind == Kind::kCommand || values.empty()) {
      continue;
    }
    if (row.kind == Kind::kOptionalValue) {
      std::replace(values.begin(), values.end(), std::string("true"), std::string());
    }
    if (!Set(i, values, FlagSource(row))) {
      return false;
    }
  }
  return true;
}

bool Merge::NodeName(const char* const* environment) {
  const size_t index = IndexOf("node-name");
  if (const auto name = Variable(environment, "NODE_NAME")) {
    return Set(index, {*name}, EnvironmentSource("NODE_NAME"));
  }
  std::array<char, 256> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0 && IsNodeName(host.data());
  return Set(index, {known ? host.data() : "localhost"}, {"default", "host name"});
}

bool Merge::Existence() {
  const Missing missing = FindMissing(config_);
  if (missing.row.empty()) {
    return true;
  }
  const size_t index = IndexOf(missing.row);
  return Reject(Rows()[index], settings_[index].text, settings_[index].source, missing.why);
}

bool Merge::Contents(const std::vector<FileCheck>& checks) {
  for (const FileCheck& check : checks) {
    const size_t index = IndexOf(check.key);
    const auto& [text, source] = settings_[index];
    const std::string why = text.empty() ? "" : check.problem(text);
    if (!why.empty()) {
      return Reject(Rows()[index], text, source, why);
    }
  }
  return true;
}

Config Merge::Result() const {
  Config config = config_;
  for (size_t i = 0; i < Rows().size(); ++i) {
    if (Rows()[i].kind != Kind::kCommand) {
      config.effective.emplace_back(Rows()[i].name, settings_[i].text);
    }
  }
  return config;
}

std::string Merge::AsFile() const {
  std::string out;
  for (size_t i = 0; i < Rows().size(); ++i) {
    const Row& row = Rows()[i];
    const auto& [text, source] = settings_[i];
    if (row.kind == Kind::kCommand) {
      continue;
    }
    if (text.empty()) {
      out += "# " + std::string(row.name) + " is not set\n";
      continue;
    }
    const auto value = FileValue(text);
    out += row.sources == Sources::kAll && value ? "" : "# ";
    out += std::string(row.name) + " = " + value.value_or(log::Quoted(text)) + "  # from " +
           source.kind + "\n";
  }
  return out;
}

}  // namespace nicmon::config
