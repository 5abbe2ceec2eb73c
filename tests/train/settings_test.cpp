// Every field of a configuration that a user may set has a flag, and no two have the same.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "edelta/train/config.h"

namespace edelta::train {
namespace {

std::set<std::string> keys(const char* section) {
  std::set<std::string> found;
  for (const Setting& setting : settings()) {
    if (std::string(setting.section) == section) found.insert(setting.field.key);
  }
  return found;
}

TEST(Settings, LeaveOutOnlyWhatTheDataDecide) {
  const auto config = to_json(train_config_from_json({{"task", "gyroscope"}}, "test"));
  for (const auto& [key, value] : config["train"].items()) {
    EXPECT_TRUE(keys("train").contains(key)) << key;
  }
  const std::set<std::string> decided{"model", "head", "input_dim"};
  for (const auto& [key, value] : config["model"].items()) {
    EXPECT_EQ(keys("model").contains(key), !decided.contains(key)) << key;
  }
  for (const auto& [key, value] : config["task"].items()) {
    EXPECT_TRUE(key == "task" || keys("task").contains(key)) << key;
  }
}

TEST(Settings, HaveFlagsOfTheirOwn) {
  std::set<std::string> flags;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(flags.insert(setting.field.flag_name()).second) << setting.field.flag_name();
  }
  for (const char* flag : {"--layers", "--width", "--gate-weight", "--geo-hidden-ratio",
                           "--sinkhorn-iterations", "--cayley-alpha", "--train-size", "--planes"}) {
    EXPECT_TRUE(flags.contains(flag)) << flag;
  }
}

}  // namespace
}  // namespace edelta::train
