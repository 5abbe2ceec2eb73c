#include "edelta/io/json_file.h"

#include <fmt/format.h>

#include <system_error>

#include "edelta/error.h"
#include "edelta/io/atomic_file.h"
#include "edelta/io/input_file.h"

namespace edelta::io {
namespace {

constexpr std::size_t kLargestJson = std::size_t{64} << 20;
constexpr int kDeepest = 64;

}  // namespace

nlohmann::json read_json(const std::filesystem::path& path) {
  const std::string text = read_text(path, kLargestJson);
  const auto limit_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest) throw InputError(fmt::format("{}: nested too deeply", path.string()));
    return true;
  };
  try {
    return nlohmann::json::parse(text, limit_depth);
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError(fmt::format("{}: no valid JSON at byte {}", path.string(), error.byte));
  }
}

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json) {
  write_text_atomically(path, json.dump(2) + "\n");
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure(fmt::format("{}: {}", folder.string(), error.message()));
}

}  // namespace edelta::io
