#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "metrics/documents.h"
#include "nicmon/metrics/table.h"
#include "nicmon/sysfs/counter_table.h"

namespace nicmon {
namespace {

using test::Code;
using test::DocumentedRows;

std::string ProfileName(MetricsProfile profile) {
  switch (profile) {
    case MetricsProfile::kMinimal:
      return "minimal";
    case MetricsProfile::kStandard:
      return "standard";
    case MetricsProfile::kFull:
      return "full";
  }
  return "";
}

std::string TypeName(prometheus::MetricType type) {
  return type == prometheus::MetricType::Counter     ? "counter"
         : type == prometheus::MetricType::Histogram ? "histogram"
         : type == prometheus::MetricType::Untyped   ? "untyped"
                                                     : "gauge";
}

TEST(Docs, ListExactlyTheTable) {
  std::map<std::string, std::string> table, documented;
  for (const MetricRow& row : MetricTable()) {
    table.emplace(row.name, TypeName(row.type) + " " + ProfileName(row.profile));
  }
  const std::regex type("counter|gauge|histogram|untyped");
  for (const auto& row : DocumentedRows()) {
    if (row.size() > 2 && !Code(row[0]).empty() && std::regex_match(row[1], type)) {
      EXPECT_TRUE(documented.emplace(Code(row[0]), row[1] + " " + row[2]).second) << row[0];
    }
  }
  EXPECT_EQ(documented, table);
}

/// metric → "`file`, `file` scale", of the rows "| metric | type | profile | node_exporter | file |
/// scale | meaning |".
std::map<std::string, std::string> DocumentedFiles() {
  std::map<std::string, std::string> files;
  for (const auto& row : DocumentedRows()) {
    if (row.size() == 7) {
      files.emplace(Code(row[0]), row[4] + " " + row[5]);
    }
  }
  files.erase("");  // the heading
  return files;
}

TEST(Docs, FilesAndScalesAreThoseOfTheCounterTable) {
  std::map<std::string, std::string> files, scales;
  for (const CounterRow& row : CounterTable()) {
    const std::string metric(row.metric), scale = std::to_string(row.traits.scale);
    std::string& list = files[metric];
    list += list.empty() ? "" : ", ";
    list += "`" + std::string(row.directory) + "/" + std::string(row.file) + "`";
    std::string& all = scales[metric];
    all += all.empty() ? scale : ", " + scale;
  }
  const std::regex one_scale("(\\d+)(, \\1)*");
  std::smatch match;
  for (auto& [metric, list] : files) {
    const std::string& all = scales[metric];
    list += " " + (std::regex_match(all, match, one_scale) ? match[1].str() : all);
  }
  EXPECT_EQ(DocumentedFiles(), files);
}

/// nicmon's name → node_exporter's, of whatever both export.
std::map<std::string, std::string> DocumentedNames() {
  std::map<std::string, std::string> names;
  for (const auto& row : DocumentedRows()) {
    for (const size_t column : {1U, 3U}) {
      if (row.size() > column && Code(row[column]).starts_with("node_infiniband_")) {
        names.emplace(Code(row[0]), Code(row[column]));
      }
    }
  }
  return names;
}

TEST(Docs, NodeExportersNamesHaveTheSameTail) {
  std::set<std::string> lacks;
  const auto names = DocumentedNames();
  for (const CounterRow& row : CounterTable()) {
    const std::string metric(row.metric);
    const auto name = names.find(metric);
    if (name == names.end()) {
      lacks.insert(metric);
      continue;
    }
    const std::string tail = metric.substr(std::string("nicmon_port_").size());
    EXPECT_TRUE(name->second == "node_infiniband_" + tail ||
                name->second == "node_infiniband_port_" + tail)
        << metric << " " << name->second;
  }
  EXPECT_EQ(lacks, (std::set<std::string>{"nicmon_port_req_rnr_retries_exceeded_total",
                                          "nicmon_port_req_transport_retries_exceeded_total"}));
}

/// record → metric of the expression.
std::map<std::string, std::string> RecordingRules() {
  std::ifstream file(NICMON_DEPLOY_DIR "/prometheus/node-exporter-names.rules.yml");
  std::map<std::string, std::string> rules;
  const std::regex record("      - record: (\\w+)"), expression("        expr: .*?(nicmon_\\w+).*");
  std::smatch match;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, record)) {
      name = match[1];
    } else if (std::regex_match(line, match, expression)) {
      EXPECT_TRUE(rules.emplace(name, match[1]).second) << name;
    }
  }
  return rules;
}

TEST(Docs, RecordingRulesAreTheMapping) {
  std::map<std::string, std::string> mapping;
  for (const auto& [ours, theirs] : DocumentedNames()) {
    mapping.emplace(theirs, ours);
  }
  EXPECT_EQ(RecordingRules(), mapping);
}

TEST(Docs, EveryRecordingRuleIsTested) {
  std::ifstream file(NICMON_DEPLOY_DIR "/prometheus/node-exporter-names.test.yml");
  const std::string tests((std::istreambuf_iterator<char>(file)), {});
  for (const auto& [name, metric] : RecordingRules()) {
    EXPECT_NE(tests.find("expr: " + name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace nicmon
