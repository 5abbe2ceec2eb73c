// How a suite trains, and where that is not the paper's way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace edelta::reproduce {

struct Experiment;
struct SuitePreset;

// A value of a configuration, as it stands in its JSON.
struct SettingValue {
  std::variant<bool, int64_t, double, std::string, std::vector<SettingValue>> value;
};
struct NamedSetting {
  std::string name;
  SettingValue value;
};

struct ProtocolSummary {
  std::string preset;                // of the training
  std::vector<NamedSetting> train;   // its settings
  std::vector<std::string> changes;  // what of them is not the paper's, in words
};
// Of what the experiments train; nothing where they train nothing.
std::optional<ProtocolSummary> summarise_protocol(const SuitePreset& preset,
                                                  const std::vector<Experiment>& experiments);

// Where paper and published code disagree, and what is done here (specification 9).
struct ProtocolDifference {
  std::string matter, paper, published_code, here;
};
const std::vector<ProtocolDifference>& protocol_differences();

}  // namespace edelta::reproduce
