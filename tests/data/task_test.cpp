#include "edelta/data/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::data {
namespace {

using nlohmann::json;

void expect_rejected(const char* text, const std::string& culprit, const std::string& reason) {
  test::expect_error<InputError>([&] { json::parse(text).get<TaskOptions>(); }, culprit, reason);
}

TEST(TaskOptions, DefaultsAreThePapers) {
  EXPECT_EQ(task_names(), (std::vector<std::string>{"gyroscope", "stability", "near-pi",
                                                    "near-pi-multi", "negation", "reversal"}));
  const TaskOptions gyroscope = default_task_options("gyroscope");
  EXPECT_EQ(gyroscope.dim, 16);
  EXPECT_EQ(gyroscope.steps, 255);
  EXPECT_EQ(gyroscope.train, 9000);
  EXPECT_EQ(gyroscope.val, 1000);
  EXPECT_EQ(gyroscope.theta_min, 0.1);
  EXPECT_EQ(gyroscope.theta_max, 2.5);
  EXPECT_EQ(default_task_options("stability").noise, 0.001);
  EXPECT_EQ(default_task_options("near-pi-multi").planes, Planes::kAll);
  for (const std::string& task : task_names()) {
    EXPECT_NO_THROW(validate(default_task_options(task))) << task;
  }
}

TEST(TaskOptions, RoundTripAsJson) {
  for (const std::string& task : task_names()) {
    TaskOptions options = default_task_options(task);
    options.dim = 10;
    options.train = 3;
    options.seed = std::numeric_limits<std::uint64_t>::max();
    const json written = options;
    const auto read = json::parse(written.dump()).get<TaskOptions>();
    EXPECT_EQ(json(read), written);
    EXPECT_EQ(read.seed, options.seed);
    EXPECT_EQ(read.theta_max, options.theta_max);
    EXPECT_EQ(read.planes, options.planes);
    EXPECT_EQ(read.noise, options.noise);
  }
}

TEST(TaskOptions, MissingKeysKeepTheDefault) {
  const auto options = json::parse(R"({"task": "near-pi", "theta": [1, 2]})").get<TaskOptions>();
  EXPECT_EQ(options.dim, 64);
  EXPECT_EQ(options.theta_min, 1);
  EXPECT_EQ(options.theta_max, 2);
}

TEST(TaskOptions, RejectsUnknownTasksAndKeys) {
  expect_rejected("{}", "task", "an object with a \"task\"");
  expect_rejected("[]", "task", "an object with a \"task\"");
  expect_rejected(R"({"task": "spiral"})", "\"spiral\"", "gyroscope, stability");
  expect_rejected(R"({"task": "gyroscope", "size": 3})", "gyroscope", "no option \"size\"");
  expect_rejected(R"({"task": "gyroscope", "noise": 0.1})", "gyroscope", "no option \"noise\"");
  expect_rejected(R"({"task": "stability", "theta": 1})", "stability", "no option \"theta\"");
  expect_rejected(R"({"task": "negation", "planes": "all"})", "negation", "no option \"planes\"");
}

TEST(TaskOptions, RejectsImpossibleSizes) {
  for (const std::string key : {"dim", "steps", "train", "val"}) {
    for (const std::string value :
         {"0", "-1", "1e3", "2.5", "\"4\"", "null", "4294967296", "18446744073709551615"}) {
      expect_rejected((R"({"task": "stability", ")" + key + "\": " + value + "}").c_str(), key,
                      "must be");
    }
  }
  expect_rejected(R"({"task": "gyroscope", "dim": 1})", "dim", "from 2");
  expect_rejected(R"({"task": "near-pi-multi", "dim": 7})", "dim", "even");
  expect_rejected(R"({"task": "near-pi", "planes": "all", "dim": 7})", "dim", "even");
  expect_rejected(R"({"task": "reversal", "dim": 2})", "dim", "from 3");
  expect_rejected(R"({"task": "reversal", "planes": "all"})", "dim", "odd");
  EXPECT_NO_THROW(
      json::parse(R"({"task": "reversal", "planes": "all", "dim": 17})").get<TaskOptions>());
  expect_rejected(R"({"task": "negation", "steps": 2})", "steps", "1, not 2");
  expect_rejected(R"({"task": "stability", "dim": 1000000, "steps": 1000000})", "dim", "numbers");
}

TEST(TaskOptions, RejectsImpossibleAngles) {
  expect_rejected(R"({"task": "near-pi", "theta": 3.141592653589793})", "theta", "below pi");
  expect_rejected(R"({"task": "near-pi", "theta": -0.1})", "theta", "at least 0");
  expect_rejected(R"({"task": "gyroscope", "theta": [0.1, 3.2]})", "theta", "below pi");
  expect_rejected(R"({"task": "gyroscope", "theta": [2, 1]})", "theta", "from low to high");
  expect_rejected(R"({"task": "gyroscope", "theta": [1]})", "theta", "[min, max]");
  expect_rejected(R"({"task": "gyroscope", "theta": ["a", 2]})", "theta", "a number");
  TaskOptions options = default_task_options("near-pi");
  options.theta_min = options.theta_max = std::nan("");
  test::expect_error<InputError>([&] { validate(options); }, "theta");
}

TEST(TaskOptions, RejectsOtherImpossibleValues) {
  expect_rejected(R"({"task": "gyroscope", "planes": "some"})", "planes", "random, first or all");
  expect_rejected(R"({"task": "gyroscope", "seed": -1})", "seed", "whole number");
  expect_rejected(R"({"task": "gyroscope", "seed": 1.5})", "seed", "whole number");
  expect_rejected(R"({"task": "stability", "noise": -1})", "noise", "0 to 1e+15");
  expect_rejected(R"({"task": "stability", "noise": 1e39})", "noise", "0 to 1e+15");
  expect_rejected(R"({"task": "stability", "noise": true})", "noise", "a number");
}

}  // namespace
}  // namespace edelta::data
