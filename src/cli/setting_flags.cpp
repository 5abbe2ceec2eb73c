#include "cli/setting_flags.h"

#include "cli/checks.h"

namespace edelta::cli {

nlohmann::json value_of(const std::string& text) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool plain = value.is_number() || value.is_boolean() || value.is_array();
  // A number with more digits than a double has would be another number.
  if (value.is_number_float() && text.find_first_not_of("-0123456789") == std::string::npos) {
    return text;
  }
  return plain ? value : nlohmann::json(text);
}

CLI::Option* add_field_flag(CLI::App& command, const Field& field, nlohmann::json& into,
                            const std::string& other_name) {
  const std::string name = field.flag_name();
  return command
      .add_option_function<std::string>(
          other_name.empty() ? name : name + "," + other_name,
          [&into, key = std::string(field.key)](const std::string& text) {
            into[key] = value_of(text);
          },
          field.help)
      ->check(kNotEmpty);
}

}  // namespace edelta::cli
