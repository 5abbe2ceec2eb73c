#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::base {
namespace {

void expect_rejected(const std::string& text, const std::string& reason) {
  test::expect_error<InputError>([&] { parse_json(text, "file.json"); }, "file.json", reason);
}

TEST(Json, ReadsWhatIsValid) {
  EXPECT_EQ(parse_json(R"({"a": [1, {"a": 2}, {"a": 3}]})", "file")["a"][2]["a"], 3);
}

TEST(Json, RejectsWhatIsNot) {
  expect_rejected("", "not valid JSON");
  expect_rejected("{\"a\": 1,}", "not valid JSON (at byte 9)");
  expect_rejected("\"\xff\"", "not valid JSON");
  expect_rejected("1e999", "out of range");
  expect_rejected(R"({"a": {"b": 1, "b": 2}})", "\"b\" occurs twice");
  expect_rejected(std::string(1'000'000, '['), "nested deeper than 64");
}

}  // namespace
}  // namespace edelta::base
