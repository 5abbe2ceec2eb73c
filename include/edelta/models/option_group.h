// Options that only some architectures have.
//
// A group is a plain struct that names its fields (edelta/base/json_fields.h). Beside it may stand
// a `void validate(const Group&, const ModelConfig&)`, and a `void complete(Group&, const
// std::set<std::string>& given)` for defaults that follow other options: it gets the keys that a
// configuration names. The registry entry of an architecture lists its groups; configuration files
// and the command line then know their fields.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <typeindex>
#include <vector>

#include "edelta/base/json_fields.h"

namespace edelta::models {

struct ModelConfig;

// The values of option groups; a group that was never set has its defaults.
class Options {
 public:
  template <class Group>
  Group& get() {
    std::any& value = groups_[typeid(Group)];
    if (!value.has_value()) value = Group();
    return std::any_cast<Group&>(value);
  }
  template <class Group>
  Group get() const {
    const auto found = groups_.find(typeid(Group));
    return found == groups_.end() ? Group() : std::any_cast<const Group&>(found->second);
  }

 private:
  std::map<std::type_index, std::any> groups_;
};

// What the registry knows of a group, whatever its type.
struct OptionGroup {
  std::type_index type;
  std::vector<Field> fields;
  std::function<void(const Options&, nlohmann::ordered_json&)> write;
  // Overwrites what the object names, completes the rest, and adds the group's keys to the set.
  std::function<void(const nlohmann::json&, Options&, std::set<std::string>&)> read;
  // InputError that names the key.
  std::function<void(const Options&, const ModelConfig&)> check;
};

template <class Group>
OptionGroup option_group() {
  return {.type = typeid(Group),
          .fields = fields_of<Group>(),
          .write =
              [](const Options& options, nlohmann::ordered_json& json) {
                json.update(fields_to_json(options.get<Group>()));
              },
          .read =
              [](const nlohmann::json& json, Options& options, std::set<std::string>& known) {
                Group& group = options.get<Group>();
                read_fields(json, group, known);
                if constexpr (requires(const std::set<std::string>& given) {
                                complete(group, given);
                              }) {
                  std::set<std::string> given;
                  for (const auto& [key, value] : json.items()) given.insert(key);
                  complete(group, given);
                }
              },
          .check =
              [](const Options& options, const ModelConfig& config) {
                if constexpr (requires(const Group& group) { validate(group, config); }) {
                  validate(options.get<Group>(), config);
                }
              }};
}

}  // namespace edelta::models
