#include "edelta/base/json_fields.h"

#include <fmt/ranges.h>

#include "base/printable.h"
#include "base/suggest.h"

namespace edelta {
namespace {

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

bool Field::is_meant_by(std::string given) const {
  given = with_underscores(std::move(given));
  return given == key || (flag != nullptr && given == with_underscores(flag));
}

void refuse_unknown_keys(const nlohmann::json& json, const std::set<std::string>& known,
                         const std::string& source) {
  for (const auto& [key, value] : json.items()) {
    if (known.contains(key)) continue;
    throw InputError(fmt::format("{}: unknown key {}; there are: {}{}", source,
                                 base::printable(key), fmt::join(known, ", "),
                                 base::did_you_mean(key, {known.begin(), known.end()})));
  }
}

nlohmann::json with_field_keys(const nlohmann::json& json, const std::vector<Field>& fields,
                               const std::string& source) {
  require_object(json, source);
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [given, value] : json.items()) {
    if (value.is_null()) {
      throw InputError(fmt::format("{}: {} is null; leave it out instead", source, given));
    }
    std::string key = given;
    for (const Field& field : fields) {
      if (field.is_meant_by(given)) key = field.key;
    }
    if (result.contains(key)) {
      throw InputError(fmt::format("{}: {} is given twice, under two names", source, key));
    }
    result[key] = value;
  }
  return result;
}

}  // namespace edelta
