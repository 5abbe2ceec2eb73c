// edelta params: parameter counts, their breakdown, and configurations that match.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/table.h"
#include "edelta/base/error.h"
#include "edelta/models/parameter_count.h"
#include "edelta/models/registry.h"

namespace edelta::cli {
namespace {

using models::ModelConfig;
using models::ParameterCount;

struct ParamsOptions {
  bool match = false;
  std::string target = "edelta";
  std::string breakdown;
  std::optional<int64_t> layers, width, streams, heads;
  bool json = false;
};

ModelConfig configuration(const std::string& model, const ParamsOptions& options) {
  ModelConfig config = models::counting_convention(models::matched_config(model));
  config.n_layer = options.layers.value_or(config.n_layer);
  config.n_embd = options.width.value_or(config.n_embd);
  config.n_streams = options.streams.value_or(config.n_streams);
  config.n_head = options.heads.value_or(config.n_head);
  validate(config);
  return config;
}

void print_configurations(const std::vector<ParameterCount>& rows, int64_t target) {
  Table table({{"model"},
               {"layers", Align::right},
               {"D", Align::right},
               {"heads", Align::right},
               {"streams", Align::right},
               {"parameters", Align::right},
               {target > 0 ? "from target" : "", Align::right}});
  for (const ParameterCount& row : rows) {
    table.add({row.model, std::to_string(row.n_layer), std::to_string(row.n_embd),
               std::to_string(row.n_head), std::to_string(row.n_streams),
               with_commas(row.parameters),
               target > 0
                   ? fmt::format("{:+.2f} %", 100.0 * static_cast<double>(row.parameters - target) /
                                                  static_cast<double>(target))
                   : ""});
  }
  fmt::print("{}", table.text());
}

void list(const ParamsOptions& options) {
  std::vector<ParameterCount> rows;
  for (const auto& architecture : models::architectures()) {
    rows.push_back(counted(configuration(architecture.name, options)));
  }
  if (options.json) {
    print_json(to_json(rows));
    return;
  }
  fmt::print("Counted as the token model with block 64, vocabulary 1, no bias.\n\n");
  print_configurations(rows, 0);
}

void match(const ParamsOptions& options) {
  const ModelConfig target = configuration(options.target, options);
  const int64_t count = count_parameters(target);
  std::vector<ParameterCount> by_depth, by_both;
  for (const auto& architecture : models::architectures()) {
    if (architecture.name == options.target) continue;
    ModelConfig start = models::counting_convention(models::matched_config(architecture.name));
    start.n_streams = target.n_streams;
    start.n_head = target.n_head;
    validate(start);
    by_depth.push_back(counted(match_depth(start, count)));
    by_both.push_back(counted(match_depth_and_width(start, count)));
  }
  if (options.json) {
    const nlohmann::ordered_json out{{"target", to_json(counted(target))},
                                     {"depth", to_json(by_depth)},
                                     {"depth_and_width", to_json(by_both)}};
    print_json(out);
    return;
  }
  fmt::print(
      "Target: {} with {} layers, D {}: {} parameters.\n\nClosest depth at the usual width:\n\n",
      target.model, target.n_layer, target.n_embd, with_commas(count));
  print_configurations(by_depth, count);
  fmt::print("\nClosest depth and width (D from 64 to 512 in steps of 32, at most 24 layers):\n\n");
  print_configurations(by_both, count);
}

void breakdown(const ParamsOptions& options) {
  const ModelConfig config = configuration(options.breakdown, options);
  const auto groups = parameter_breakdown(config);
  const int64_t total = count_parameters(config);
  if (options.json) {
    nlohmann::ordered_json out = to_json(counted(config));
    for (const auto& group : groups) out["groups"][group.name] = group.count;
    print_json(out);
    return;
  }
  Table table({{"module"}, {"parameters", Align::right}, {"share", Align::right}});
  for (const auto& group : groups) {
    table.add({group.name, with_commas(group.count),
               fmt::format("{:.1f} %",
                           100.0 * static_cast<double>(group.count) / static_cast<double>(total))});
  }
  table.add({"total", with_commas(total), "100.0 %"});
  fmt::print("{} with {} layers, D {}\n\n{}", config.model, config.n_layer, config.n_embd,
             table.text());
}

void run_params(const ParamsOptions& options) {
  if (!options.breakdown.empty()) return breakdown(options);
  return options.match ? match(options) : list(options);
}

}  // namespace

void add_params(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "params", "Count parameters of the matched configurations, break them down, find matches");
  auto options = std::make_shared<ParamsOptions>();
  command->add_flag("--match", options->match,
                    "Find the depth (and width) of each other model closest to --target");
  command->add_option("--target", options->target, "The model that --match goes by")
      ->needs("--match")
      ->capture_default_str();
  CLI::Option* breakdown = command->add_option("--breakdown", options->breakdown,
                                               "Show the parameters of MODEL by module");
  breakdown->type_name("MODEL")->excludes("--match");
  command->add_option("--layers", options->layers, "Another depth");
  command->add_option("--width", options->width, "Another width D");
  command->add_option("--streams", options->streams, "Another number of streams n");
  command->add_option("--heads", options->heads, "Another number of heads");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n  edelta params\n  edelta params --breakdown edelta\n"
      "  edelta params --match --target gpt");
  command->callback([options] { run_params(*options); });
}

}  // namespace edelta::cli
