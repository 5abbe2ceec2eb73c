#include "models/connections/projection_maps.h"

namespace edelta::models {
namespace {

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::LinearOptions;

enum class Side { pre, post };

bool has_map(Projections projections, const Site& site, Side side) {
  const bool attention = site.name() == "attn", before = side == Side::pre;
  switch (projections) {
    case Projections::on:
      return true;
    case Projections::attention:
      return attention;
    case Projections::attention_pre:
      return attention && before;
    case Projections::attention_post:
      return attention && !before;
    case Projections::mlp:
      return !attention;
    case Projections::mlp_pre:
      return !attention && before;
    case Projections::mlp_post:
      return !attention && !before;
    case Projections::own:
    case Projections::off:
      break;
  }
  return false;
}

}  // namespace

ProjectionMaps::ProjectionMaps(const ModelConfig& config, Site& site, Projections usually)
    : init_(config.options.get<ProjectionOptions>().projection_init) {
  const auto options = config.options.get<ProjectionMapOptions>();
  const Projections wanted =
      options.projections == Projections::own ? usually : options.projections;
  const auto make = [&](const std::string& name, Side side) {
    Map map;
    if (!has_map(wanted, site, side)) return map;
    for (int64_t i = 1; i <= options.projection_factors; ++i) {
      const Linear factor(LinearOptions(config.n_embd, config.n_embd).bias(false));
      map.push_back(site.add(i == 1 ? name : name + std::to_string(i), factor));
    }
    return map;
  };
  pre_ = make("h_pre", Side::pre);
  post_ = make("h_post", Side::post);
}

Tensor ProjectionMaps::product(const Map& map) {
  Tensor all;
  for (const Linear& factor : map) {
    all = all.defined() ? factor->weight.matmul(all) : factor->weight;
  }
  return all;
}

void ProjectionMaps::initialise() {
  if (init_ != ProjectionInit::identity) return;
  for (const Map* map : {&pre_, &post_}) {
    for (const Linear& factor : *map) torch::nn::init::eye_(factor->weight);
  }
}

}  // namespace edelta::models
