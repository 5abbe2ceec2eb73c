// Plain structs to JSON and back, and to flags of the command line, from one list of their fields.
//
// A struct names its fields once, in a static member `visit_fields(self, visit)` that calls
// visit(Field{"key", "what it is"}, self.member) for each. Enumerations name their values in
// `enum_names<E>()`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "edelta/base/error.h"

namespace edelta {

template <class E>
using EnumName = std::pair<E, const char*>;

// Specialised for each enumeration that appears in a configuration.
template <class E>
std::span<const EnumName<E>> enum_names();

template <class E>
std::string enum_to_string(E value) {
  for (const auto& [candidate, name] : enum_names<E>()) {
    if (candidate == value) return name;
  }
  return "?";
}

template <class E>
std::string enum_choices() {
  std::string choices;
  for (const auto& [value, name] : enum_names<E>()) {
    choices += (choices.empty() ? "" : ", ") + std::string(name);
  }
  return choices;
}

template <class E>
E enum_from_string(const std::string& key, const std::string& text) {
  for (const auto& [value, name] : enum_names<E>()) {
    if (text == name) return value;
  }
  throw InputError(fmt::format("{} is '{}'; it must be one of: {}", key, text, enum_choices<E>()));
}

// What is known of a field besides its type.
struct Field {
  const char* key;             // in JSON
  const char* help;            // one line; empty: no flag, because something else decides it
  const char* flag = nullptr;  // without the dashes, where it is not the key

  std::string flag_name() const {
    std::string name = flag != nullptr ? flag : key;
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
  }
  // In messages: as the command line calls it, with the key where that is another.
  std::string name() const {
    return flag != nullptr ? fmt::format("{} ({})", flag, key) : std::string(key);
  }
  // Whether a key of a file means this field: its own key, or the flag's name with - or _.
  bool is_meant_by(std::string given) const;
};

namespace json_fields {

// What a number of this type can be, for messages.
template <class T>
std::string wanted_number() {
  if constexpr (std::is_unsigned_v<T>) {
    return fmt::format("a whole number from 0 to {}", std::numeric_limits<T>::max());
  }
  if constexpr (std::is_integral_v<T>) {
    return fmt::format("a whole number of at most {} digits", std::numeric_limits<T>::digits10);
  }
  return "a number";
}

template <class T>
T number_from_text(const std::string& key, const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("{} is '{}'; it must be {}", key, text, wanted_number<T>()));
  }
  return value;
}

inline void read(const std::string& key, const nlohmann::json& json, std::string& field) {
  if (!json.is_string()) throw InputError(fmt::format("{} must be a string", key));
  field = json.get<std::string>();
}

inline void read(const std::string& key, const nlohmann::json& json, bool& field) {
  if (json.is_boolean()) {
    field = json.get<bool>();
  } else if (json == "true" || json == "false") {
    field = json == "true";
  } else {
    throw InputError(fmt::format("{} is {}; it must be true or false", key, json.dump()));
  }
}

// Whole numbers are accepted as 4, 4.0 or "4", and must fit.
template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
void read(const std::string& key, const nlohmann::json& json, Integer& field) {
  if (json.is_string()) {
    field = number_from_text<Integer>(key, json.get<std::string>());
  } else if (json.is_number_unsigned() && std::in_range<Integer>(json.get<uint64_t>())) {
    field = static_cast<Integer>(json.get<uint64_t>());
  } else if (json.is_number_integer() && !json.is_number_unsigned() &&
             std::in_range<Integer>(json.get<int64_t>())) {
    field = static_cast<Integer>(json.get<int64_t>());
  } else if (json.is_number_float() && std::abs(json.get<double>()) < 9e15 &&
             json.get<double>() == std::floor(json.get<double>()) &&
             std::in_range<Integer>(static_cast<int64_t>(json.get<double>()))) {
    field = static_cast<Integer>(json.get<double>());
  } else {
    throw InputError(
        fmt::format("{} is {}; it must be {}", key, json.dump(), wanted_number<Integer>()));
  }
}

inline void read(const std::string& key, const nlohmann::json& json, double& field) {
  if (json.is_string()) {
    field = number_from_text<double>(key, json.get<std::string>());
  } else if (json.is_number()) {
    field = json.get<double>();
  } else {
    throw InputError(fmt::format("{} is {}; it must be a number", key, json.dump()));
  }
  if (!std::isfinite(field)) throw InputError(fmt::format("{} must be finite", key));
}

template <class E>
  requires std::is_enum_v<E>
void read(const std::string& key, const nlohmann::json& json, E& field) {
  if (!json.is_string()) {
    throw InputError(
        fmt::format("{} is {}; it must be one of: {}", key, json.dump(), enum_choices<E>()));
  }
  field = enum_from_string<E>(key, json.get<std::string>());
}

template <class T>
nlohmann::ordered_json write(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    return enum_to_string(field);
  } else {
    return field;
  }
}

}  // namespace json_fields

template <class Config>
nlohmann::ordered_json fields_to_json(const Config& config) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  Config::visit_fields(config, [&](const Field& info, const auto& field) {
    json[info.key] = json_fields::write(field);
  });
  return json;
}

// Overwrites the fields that `json`, an object, names; their keys are added to `known`.
template <class Config>
void read_fields(const nlohmann::json& json, Config& config, std::set<std::string>& known) {
  Config::visit_fields(config, [&](const Field& info, auto& field) {
    known.insert(info.key);
    if (const auto found = json.find(info.key); found != json.end()) {
      json_fields::read(info.name(), *found, field);
    }
  });
}

template <class Config>
std::vector<Field> fields_of(const Config& config = {}) {
  std::vector<Field> fields;
  Config::visit_fields(config, [&](const Field& info, const auto&) { fields.push_back(info); });
  return fields;
}

// How messages call the field with this key.
template <class Config>
std::string field_name(const std::string& key) {
  for (const Field& field : fields_of<Config>()) {
    if (field.key == key) return field.name();
  }
  return key;
}

inline void require_object(const nlohmann::json& json, const std::string& source) {
  if (!json.is_object()) throw InputError(source + ": must be a JSON object");
}

// InputError for a key of `json` that is not among `known`; it lists those, and names the nearest.
void refuse_unknown_keys(const nlohmann::json& json, const std::set<std::string>& known,
                         const std::string& source);

// `json`, an object, with the fields' keys where it has the flags' names: files take both.
// InputError where it has both, or where a value is null.
nlohmann::json with_field_keys(const nlohmann::json& json, const std::vector<Field>& fields,
                               const std::string& source);

// Runs `read` so that what it refuses is reported with the source's name.
template <class Read>
void with_source(const std::string& source, const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    throw InputError(source + ": " + error.what());
  }
}

// Overwrites the fields that `json` names; keys that are not fields are errors.
template <class Config>
void fields_from_json(const nlohmann::json& json, Config& config, const std::string& source) {
  require_object(json, source);
  std::set<std::string> known;
  with_source(source, [&] { read_fields(json, config, known); });
  refuse_unknown_keys(json, known, source);
}

}  // namespace edelta
