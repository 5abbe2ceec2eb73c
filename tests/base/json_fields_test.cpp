#include "edelta/base/json_fields.h"

#include <gtest/gtest.h>

#include <limits>

#include "expect_error.h"

namespace edelta::json_fields {
namespace {

template <class T>
T read_as(const nlohmann::json& json) {
  T value{};
  read("key", json, value);
  return value;
}

template <class T>
void expect_refused(const nlohmann::json& json, const std::string& message) {
  test::expect_error<InputError>([&] { read_as<T>(json); }, message);
}

TEST(JsonFields, WholeNumbersAreReadInEveryForm) {
  for (const nlohmann::json& four : {nlohmann::json(4), nlohmann::json(4.0), nlohmann::json("4")}) {
    EXPECT_EQ(read_as<int64_t>(four), 4);
    EXPECT_EQ(read_as<uint64_t>(four), 4u);
  }
  EXPECT_EQ(read_as<uint64_t>("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(read_as<int64_t>(-4), -4);
}

// The message says what would fit.
TEST(JsonFields, NumbersThatDoNotFitAreRefused) {
  for (const nlohmann::json& negative : {nlohmann::json(-1), nlohmann::json(-1.0)}) {
    expect_refused<uint64_t>(negative, "a whole number from 0 to 18446744073709551615");
  }
  expect_refused<uint64_t>("-1", "key is '-1'; it must be a whole number from 0 to");
  expect_refused<int64_t>("9223372036854775808", "it must be a whole number of at most 18 digits");
  expect_refused<int64_t>(9223372036854775808u, "it must be a whole number of at most 18 digits");
  expect_refused<int32_t>(3000000000, "it must be a whole number of at most 9 digits");
  expect_refused<int64_t>(1.5, "key is 1.5; it must be a whole number");
  expect_refused<int64_t>("4 ", "key is '4 '; it must be a whole number");
  expect_refused<double>("four", "key is 'four'; it must be a number");
  expect_refused<double>("inf", "key must be finite");
}

}  // namespace
}  // namespace edelta::json_fields
