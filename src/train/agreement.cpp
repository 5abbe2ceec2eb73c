#include "train/agreement.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/version.h"

namespace edelta::train {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// "train.batch is 8, and 16 at rank 0", for the first entry that differs.
std::string first_disagreement(const json& own, const json& first) {
  const json here = own.flatten(), there = first.flatten();
  const auto text = [](const json& entries, const std::string& key) {
    return entries.contains(key) ? entries[key].dump() : "absent";
  };
  const auto named = [&](const std::string& key) {
    std::string name = key.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    return fmt::format("{} is {}, and {} at rank 0", name, text(here, key), text(there, key));
  };
  for (const auto& [key, value] : there.items()) {
    if (!here.contains(key) || here[key] != value) return named(key);
  }
  for (const auto& [key, value] : here.items()) {
    if (!there.contains(key)) return named(key);
  }
  return {};
}

void require_same(dist::Ranks& ranks, const ordered_json& own) {
  if (ranks.count() == 1) return;
  const std::vector<std::string> all = dist::gather_texts(ranks, own.dump());
  const json first = json::parse(all.front());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const std::string difference = first_disagreement(json::parse(all[rank]), first);
    if (difference.empty()) continue;
    throw InputError(fmt::format("{}: {}", ranks.name_of(static_cast<int64_t>(rank)), difference));
  }
}

}  // namespace

void require_same_configuration(dist::Ranks& ranks, const TrainConfig& config,
                                const data::Identity& data_files) {
  ordered_json own = to_json(config);
  own.erase("data");
  own["data"] = data::identity_to_json(data_files);
  require_same(ranks, own);
}

void require_same_computation(dist::Ranks& ranks, const Compute& compute) {
  const ordered_json machine = base::describe_machine();
  require_same(ranks, {{"version", kVersion},
                       {"libtorch", machine.value("libtorch", "")},
                       {"simd", machine.value("simd", "")},
                       {"threads", compute.threads},
                       {"impl", compute.implementation},
                       {"deterministic_reduction", compute.summation == Summation::tree}});
}

}  // namespace edelta::train
