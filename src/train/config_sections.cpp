#include "train/config_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace edelta::train {

using nlohmann::json;

json config_section(const json& given, const char* key, const std::vector<Field>& fields) {
  const auto found = given.find(key);
  if (found == given.end()) return json::object();
  if (found->is_string()) return {{key, *found}};
  require(found->is_object(), fmt::format("{} must be a name or an object", key));
  return with_field_keys(*found, fields, key);
}

std::string text_at(const json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  require(found->is_string(), fmt::format("{} must be a string", key));
  return found->get<std::string>();
}

json merged(json base, const json& over) {
  base.merge_patch(over);
  return base;
}

void scale_warmup(Protocol& protocol) {
  protocol.warmup = std::min(protocol.warmup, std::max<int64_t>(protocol.iterations, 0) / 10);
}

void add_settings(const char* section, const std::vector<Field>& fields,
                  const nlohmann::ordered_json& defaults, std::vector<Setting>& all) {
  for (const Field& field : fields) {
    if (*field.help == '\0') continue;
    const auto found = defaults.find(field.key);
    const bool text = found != defaults.end() && found->is_string();
    all.push_back({section, field,
                   found == defaults.end() ? ""
                   : text                  ? found->get<std::string>()
                                           : found->dump()});
  }
}

}  // namespace edelta::train
