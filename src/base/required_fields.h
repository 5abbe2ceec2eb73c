// Reads what the program has measured back from its JSON: every key must be there and of its kind.
// InputErrors name the key; with_source() adds the file.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/base/json_fields.h"

namespace edelta::base {

inline const nlohmann::json& required_entry(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) throw InputError(fmt::format("{} is looked for in no object", key));
  const auto found = object.find(key);
  if (found == object.end()) throw InputError(fmt::format("{} is missing", key));
  return *found;
}

template <class T>
T required(const nlohmann::json& object, const char* key) {
  T value{};
  json_fields::read(key, required_entry(object, key), value);
  return value;
}

// JSON has no infinities and no NaN: they are written as null, and come back as NaN.
inline double number_or_nan(const char* key, const nlohmann::json& json) {
  if (json.is_null()) return NAN;
  if (!json.is_number()) {
    throw InputError(fmt::format("{} is {}; it must be a number", key, json.dump()));
  }
  return json.get<double>();
}

inline double required_number(const nlohmann::json& object, const char* key) {
  return number_or_nan(key, required_entry(object, key));
}

inline const nlohmann::json& required_list(const nlohmann::json& object, const char* key) {
  const nlohmann::json& list = required_entry(object, key);
  if (!list.is_array()) throw InputError(fmt::format("{} must be a list", key));
  return list;
}

inline std::vector<double> required_numbers(const nlohmann::json& object, const char* key) {
  std::vector<double> numbers;
  for (const nlohmann::json& each : required_list(object, key)) {
    numbers.push_back(number_or_nan(key, each));
  }
  return numbers;
}

}  // namespace edelta::base
