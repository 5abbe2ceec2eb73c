#include "reproduce/report/facts.h"

#include <fmt/format.h>

#include "reproduce/report/number_text.h"
#include "reproduce/report/typeset.h"

namespace edelta::reproduce::report {
namespace {

struct SettingText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{:.6g}", value); }
  std::string operator()(const std::vector<SettingValue>& values) const {
    std::vector<std::string> parts;
    for (const SettingValue& each : values) parts.push_back(std::visit(*this, each.value));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
};

std::string hardware(const MachineSummary& machine) {
  if (machine.threads.empty()) return machine.cpu;
  return fmt::format("{}; {} {}", machine.cpu, fmt::join(machine.threads, " and "),
                     machine.threads == std::vector<int64_t>{1} ? "thread" : "threads");
}

std::string software(const Results& results) {
  const MachineSummary& machine = results.machine;
  std::string text = "edelta " + results.version;
  for (const auto& [name, value] :
       {std::pair("instruction set", machine.isa), std::pair("linear algebra (BLAS)", machine.blas),
        std::pair("libtorch", machine.libtorch)}) {
    if (!value.empty()) text += fmt::format("; {} {}", name, value);
  }
  return text;
}

Fact training_fact(const ProtocolSummary& protocol) {
  std::vector<std::string> parts;
  for (const NamedSetting& setting : protocol.train) {
    if (setting.name == "seed") continue;  // the seeds have their own line
    parts.push_back(setting.name + " " + std::visit(SettingText(), setting.value.value));
  }
  return {"Training", {typeset(fmt::format("{}", fmt::join(parts, "; ")))}};
}

}  // namespace

std::vector<Fact> make_facts(const Results& results) {
  std::vector<Fact> facts{
      {"Preset", {results.preset}},
      {"Seeds", {fmt::format("{}", fmt::join(results.seeds, ", "))}},
      {"Runs", {fmt::format("{} of {} done", results.runs.done, results.runs.total)}},
      {"Time of training", {duration_text(results.runs.seconds)}},
      {"Machine", {hardware(results.machine)}},
      {"Software", {software(results)}}};
  if (!results.protocol) return facts;
  facts.push_back(training_fact(*results.protocol));
  Fact changes{"Not the paper’s", results.protocol->changes};
  if (changes.values.empty()) changes.values.emplace_back("nothing");
  facts.push_back(std::move(changes));
  return facts;
}

}  // namespace edelta::reproduce::report
