#include "base/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

std::string checksum_without_seal(nlohmann::json object) {
  object.erase("checksum");
  return checksum_of(object.dump());  // sorted by key
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& source) {
  constexpr int kMaximumDepth = 64;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > kMaximumDepth) {
      throw InputError(fmt::format("{}: nested deeper than {}", source, kMaximumDepth));
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw InputError(fmt::format("{}: the key {} occurs twice in one object", source,
                                   printable(parsed.get<std::string>())));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError(fmt::format("{} is not valid JSON (at byte {})", source, error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    throw InputError(fmt::format("{}: a number is out of range", source));
  }
}

nlohmann::json read_json(const std::filesystem::path& path) {
  return parse_json(read_text(path, std::size_t{64} << 20), path.string());
}

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json) {
  write_text_atomically(path, json_text(json, 2) + "\n");
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json sealed(nlohmann::ordered_json object) {
  // Through the text, so that the checksum is that of what a reader gets.
  object["checksum"] = checksum_without_seal(nlohmann::json::parse(json_text(object)));
  return object;
}

void require_seal(const nlohmann::json& object, const std::string& source) {
  if (!object.is_object()) throw InputError(source + ": must be a JSON object");
  const auto found = object.find("checksum");
  if (found == object.end()) throw InputError(source + ": it has no checksum");
  if (*found != checksum_without_seal(object)) {
    throw InputError(source + ": it was changed or damaged (its checksum differs)");
  }
}

}  // namespace edelta::base
