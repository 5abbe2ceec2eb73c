// edelta bench: training steps at the paper's sizes and of small puzzle models, fused against
// composite, against the FMA peak.
#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/generation.h"
#include "bench/growth.h"
#include "bench/puzzle_models.h"
#include "cli/bench_ranks.h"
#include "cli/commands.h"
#include "cli/machine_options.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "edelta/base/blas.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/data/task.h"
#include "edelta/models/registry.h"

namespace edelta::cli {
namespace {

using bench::Dimension;
using bench::ModelBench;

struct BenchOptions {
  std::vector<std::string> models;
  std::string task = "gyroscope";
  bench::BenchOptions bench;
  std::string compare;  // empty: composite for steps, none for their growth
  bool phases = false;
  bool growth = false;
  bool generate = false;
  int64_t ranks = 0;
  bool as_rank = false;
  bool json = false;
};

std::string megabytes(const bench::StepMemory& memory) {
  return memory.peak > 0 ? fmt::format("{:.0f}", 1e-6 * static_cast<double>(memory.peak)) : "-";
}

// The phases of a fused step, model by model.
std::string phase_table(const std::vector<ModelBench>& benches) {
  Table table({{"model"},
               {"phase"},
               {"calls", Align::right},
               {"ms", Align::right},
               {"share", Align::right}});
  for (const ModelBench& bench : benches) {
    double total = 0;
    for (const auto& phase : bench.phases) total += phase.seconds;
    for (const auto& phase : bench.phases) {
      table.add({&phase == &bench.phases.front() ? bench.model : "", phase.name,
                 phase.calls > 0 ? std::to_string(phase.calls) : "",
                 fmt::format("{:.1f}", 1e3 * phase.seconds),
                 fmt::format("{:.1f} %", 100 * phase.seconds / total)});
    }
  }
  return table.text();
}

void print_growth(const bench::Growth& growth) {
  Table table({{growth.what, Align::right},
               {"sequences", Align::right},
               {"positions", Align::right},
               {"step ms", Align::right},
               {"µs a token", Align::right},
               {"composite ms", Align::right},
               {"speed-up", Align::right}});
  for (const auto& point : growth.points) {
    table.add({std::to_string(point.value), std::to_string(point.batch),
               std::to_string(point.length), fmt::format("{:.1f}", 1e3 * point.step),
               fmt::format("{:.2f}", 1e6 * point.per_token),
               point.composite ? fmt::format("{:.1f}", 1e3 * *point.composite) : "-",
               point.composite ? fmt::format("{:.2f}×", *point.composite / point.step) : "-"});
  }
  fmt::print("\n{}: a step as {} grows\n\n{}", growth.model, growth.what, table.text());
}

nlohmann::ordered_json to_json(const bench::Growth& growth) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const auto& point : growth.points) {
    points.push_back({{growth.what, point.value},
                      {"sequences", point.batch},
                      {"positions", point.length},
                      {"step_s", point.step}});
    if (point.composite) points.back()["composite_s"] = *point.composite;
  }
  return {{"model", growth.model}, {"grows", growth.what}, {"points", points}};
}

// One dimension after the other, from the model's matched configuration.
void run_growth(const BenchOptions& options) {
  nlohmann::ordered_json out{{"machine", base::describe_machine()}};
  ProgressLine progress;
  for (const std::string& model : options.models) {
    const models::ModelConfig config = bench::matched_config(model, options.bench);
    const auto measure = [&](Dimension dimension, const std::vector<int64_t>& values) {
      const bench::Growth growth =
          grow(config, dimension, values, options.bench.compare,
               [&](const std::string& what, int64_t value) {
                 progress.show({"measuring " + model, fmt::format("{} = {}", what, value)});
               });
      progress.erase();
      options.json ? out["growth"].push_back(to_json(growth)) : print_growth(growth);
    };
    measure(Dimension::length, {64, 128, 256, 512, 1024, 2048, 4096});
    measure(Dimension::width, {64, 128, 256, 512, 1024});
    if (models::find_architecture(model).streams) {
      measure(Dimension::streams, {2, 4, 8, 16, 32, 64});
    }
    measure(Dimension::batch, {1, 4, 16, 64, 128});
  }
  const auto cayley = bench::grow_cayley({2, 4, 8, 16, 32, 64});
  Table table({{"n", Align::right},
               {"closed form ms", Align::right},
               {"solve ms", Align::right},
               {"ratio", Align::right}});
  for (const auto& point : cayley) {
    table.add({std::to_string(point.streams), fmt::format("{:.2f}", 1e3 * point.closed_form),
               fmt::format("{:.2f}", 1e3 * point.solve),
               fmt::format("{:.0f}×", point.solve / point.closed_form)});
    out["cayley"].push_back(
        {{"n", point.streams}, {"closed_form_s", point.closed_form}, {"solve_s", point.solve}});
  }
  if (options.json) {
    print_json(out);
  } else {
    fmt::print(
        "\n4096 operators, forward and backward: the hybrid in closed form against a linear "
        "solve for its rotation\n\n{}",
        table.text());
  }
}

// Tokens one by one, with a state and without, on the threads asked for.
void run_generation(const BenchOptions& options) {
  constexpr int64_t kLength = 256, kVocabulary = 256;
  Table table({{"model"},
               {"weights", Align::right},
               {"tok/s", Align::right},
               {"µs a token", Align::right},
               {"limit µs", Align::right},
               {"of limit", Align::right},
               {"prefill tok/s", Align::right},
               {"without state ms", Align::right},
               {"speed-up", Align::right}});
  nlohmann::ordered_json out{{"machine", base::describe_machine()}, {"length", kLength}};
  ProgressLine progress;
  for (const std::string& model : options.models) {
    progress.show({"measuring " + model});
    const bench::GenerationBench bench = bench::bench_generation(
        bench::generation_config(model, kLength, kVocabulary), options.bench.repetitions);
    out["generation"].push_back(to_json(bench));
    table.add({bench.model, std::to_string(bench.weights), fmt::format("{:.0f}", 1 / bench.step),
               fmt::format("{:.0f}", 1e6 * bench.step), fmt::format("{:.0f}", 1e6 * bench.limit()),
               fmt::format("{:.0f} %", 100 * bench.limit() / bench.step),
               fmt::format("{:.0f}", kLength / bench.prefill),
               fmt::format("{:.1f}", 1e3 * bench.recomputed),
               fmt::format("{:.0f}×", bench.recomputed / bench.step)});
  }
  progress.erase();
  if (options.json) return print_json(out);
  fmt::print(
      "one sequence of {} positions, vocabulary {}, {} threads\n\n{}\n"
      "A token's time is the mean over the block; the limit is reading the weights once, or "
      "multiplying with them at the FMA peak. Without a state, a token takes a pass over the "
      "block.\n",
      kLength, kVocabulary, base::threads(), table.text());
}

// The steps' times, model by model.
std::string step_table(const std::vector<ModelBench>& benches) {
  Table table({{"model"},
               {"step s", Align::right},
               {"forward", Align::right},
               {"backward", Align::right},
               {"optimiser", Align::right},
               {"composite s", Align::right},
               {"speed-up", Align::right},
               {"GFLOP", Align::right},
               {"of peak", Align::right},
               {"inference tok/s", Align::right},
               {"peak MB", Align::right},
               {"composite MB", Align::right}});
  for (const ModelBench& bench : benches) {
    table.add(
        {bench.model, fmt::format("{:.3f}", bench.fused.step()),
         fmt::format("{:.3f}", bench.fused.forward), fmt::format("{:.3f}", bench.fused.backward),
         fmt::format("{:.4f}", bench.fused.optimiser),
         bench.composite ? fmt::format("{:.3f}", bench.composite->step()) : "-",
         bench.composite ? fmt::format("{:.2f}×", bench.speedup()) : "-",
         fmt::format("{:.0f}", bench.gflop), fmt::format("{:.0f} %", 100 * bench.share_of_peak()),
         fmt::format("{:.0f}", bench.fused.inference), megabytes(bench.fused_memory),
         megabytes(bench.composite_memory)});
  }
  return table.text();
}

// What dropout costs, model by model.
std::string dropout_table(const std::vector<ModelBench>& benches) {
  Table table({{"model"},
               {"step s", Align::right},
               {"with dropout", Align::right},
               {"forward", Align::right},
               {"backward", Align::right},
               {"cost", Align::right}});
  for (const ModelBench& bench : benches) {
    table.add({bench.model, fmt::format("{:.3f}", bench.fused.step()),
               fmt::format("{:.3f}", bench.dropping->step()),
               fmt::format("{:.3f}", bench.dropping->forward),
               fmt::format("{:.3f}", bench.dropping->backward),
               fmt::format("{:+.1f} %", 100 * bench.dropout_cost())});
  }
  return table.text();
}

void print_steps(const bench::BenchReport& report, const BenchOptions& options) {
  double peak = 0;
  for (const ModelBench& bench : report.results) peak = std::max(peak, bench.peak_gflops);
  fmt::print(
      "batch {} × {} positions, {} threads, FMA peak {:.0f} GFLOP/s, GEMM {:.0f} GFLOP/s\n\n{}",
      report.batch, report.length, base::threads(), peak, report.gemm_gflops,
      step_table(report.results));
  fmt::print(
      "\nTimes are the fastest of {} interleaved repetitions. Memory is the process's resident "
      "peak over three steps.\n",
      options.bench.repetitions);
  if (options.bench.dropout > 0) {
    fmt::print("\nFused steps with dropout {}:\n\n{}", options.bench.dropout,
               dropout_table(report.results));
  }
  if (options.phases) {
    fmt::print("\nOne fused step, kernel by kernel:\n\n{}", phase_table(report.results));
  }
}

std::string puzzle_model_names() {
  std::string names;
  for (const auto& model : bench::puzzle_models()) {
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  return names;
}

// The recursive puzzle models, which have sizes of their own.
bench::BenchReport bench_puzzles(const BenchOptions& options) {
  for (const std::string& model : options.models) {
    if (!bench::is_puzzle_model(model)) {
      throw InputError("puzzle models are timed by themselves, without " + model);
    }
  }
  if (options.growth || options.generate || options.ranks > 0) {
    throw InputError("only the steps of puzzle models are timed");
  }
  if (options.bench.dropout > 0 || options.bench.vocabulary > 0 || options.bench.layers > 0) {
    throw InputError("puzzle models have no dropout, and a vocabulary and layers of their own");
  }
  if (options.bench.recompute) throw InputError("puzzle models are not computed again");
  bench::BenchReport report{.batch = options.bench.batch, .results = {}};
  ProgressLine progress;
  for (const std::string& model : options.models) {
    const auto config = bench::puzzle_config(model, options.bench.length, options.bench.width);
    report.length = config.positions();
    progress.show({fmt::format("{} of {}", report.results.size() + 1, options.models.size()),
                   "measuring " + model});
    report.results.push_back(bench_puzzle_model(model, config, options.bench));
  }
  report.gemm_gflops = base::measure_gemm();
  progress.erase();
  return report;
}

void print_report(const bench::BenchReport& report, const BenchOptions& options) {
  if (options.json) {
    print_json(to_json(report));
  } else {
    print_steps(report, options);
  }
}

void run_bench(BenchOptions options) {
  options.bench.compare =
      options.compare.empty() ? !options.growth : options.compare == "composite";
  if (std::ranges::any_of(options.models, bench::is_puzzle_model)) {
    if (const auto warning = base::blas_warning_to_measure()) notice("{}\n", *warning);
    return print_report(bench_puzzles(options), options);
  }
  const data::TaskOptions task = data::default_task_options(options.task);
  options.bench.input_dim = task.dim;
  if (options.bench.length == 0) options.bench.length = task.steps;
  if (options.ranks > 0 || options.as_rank) {
    if (options.models.empty()) options.models = {"edelta"};
    const RankBenchOptions shared{options.models, options.task, options.bench, options.ranks,
                                  options.json};
    return options.as_rank ? bench_as_rank(shared) : bench_processes(shared);
  }
  if (options.models.empty()) {
    for (const auto& architecture : models::architectures()) {
      options.models.push_back(architecture.name);
    }
  }
  if (const auto warning = base::blas_warning_to_measure()) notice("{}\n", *warning);
  if (options.growth) return run_growth(options);
  if (options.generate) return run_generation(options);
  std::vector<models::ModelConfig> configs;
  for (const std::string& model : options.models) {
    configs.push_back(bench::matched_config(model, options.bench));
  }
  ProgressLine progress;
  size_t begun = 0;
  const bench::BenchReport report =
      bench_models(configs, options.bench, [&](const std::string& model) {
        progress.show({fmt::format("{} of {}", ++begun, configs.size()), "measuring " + model});
      });
  progress.erase();
  print_report(report, options);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "bench", "Time training steps: fused against composite, and the share of the FMA peak");
  auto options = std::make_shared<BenchOptions>();
  options->bench.length = 0;
  command
      ->add_option("--models", options->models,
                   "Architectures, comma-separated (default: all), or puzzle models: " +
                       puzzle_model_names())
      ->delimiter(',');
  auto* task =
      command->add_option("--task", options->task, "Task whose dimension and length to take")
          ->capture_default_str();
  auto* batch = command->add_option("--batch", options->bench.batch, "Sequences a batch")
                    ->check(CLI::Range(1, 65536))
                    ->capture_default_str();
  auto* length =
      command->add_option("--length", options->bench.length, "Positions (default: the task's)")
          ->check(CLI::Range(1, 1 << 20));
  auto* layers = command
                     ->add_option("--layers", options->bench.layers,
                                  "Layers (default: those of the matched model)")
                     ->check(CLI::Range(1, 1000));
  auto* width =
      command->add_option("--width", options->bench.width, "Width D (default: the matched one)")
          ->check(CLI::Range(1, 1 << 24));
  auto* vocab = command
                    ->add_option("--vocab", options->bench.vocabulary,
                                 "Token models with a vocabulary of this size (default: vectors)")
                    ->check(CLI::Range(1, 1 << 24));
  auto* repetitions =
      command->add_option("--repetitions", options->bench.repetitions, "Repetitions")
          ->check(CLI::Range(1, 1000))
          ->capture_default_str();
  auto* compare = command
                      ->add_option("--compare", options->compare,
                                   "composite (libtorch) or none (default: composite; with "
                                   "--growth none)")
                      ->check(CLI::IsMember({"composite", "none"}));
  auto* dropout = command
                      ->add_option("--dropout", options->bench.dropout,
                                   "Also time fused steps with this dropout probability")
                      ->check(CLI::Range(0.0, 0.99));
  auto* recompute = command->add_flag(
      "--recompute", options->bench.recompute,
      "Steps whose backward pass computes each block again, as train --recompute true");
  add_threads_option(*command);
  auto* phases =
      command->add_flag("--phases", options->phases, "Also print where a fused step's time goes");
  // Growth has sizes and repetitions of its own.
  auto* growth = command
                     ->add_flag("--growth", options->growth,
                                "Instead: a fused step against T, D, n and batch, one at a time")
                     ->excludes(batch, length, repetitions, dropout, recompute, phases);
  auto* ranks =
      command
          ->add_option("--ranks", options->ranks,
                       "Instead: a step of one process with all threads against so many with a "
                       "part of them each, and a projection for several machines")
          ->check(CLI::Range(2, 64))
          ->excludes(compare, dropout, recompute, phases, growth);
  command->add_flag("--as-rank", options->as_rank)->group("");  // for --ranks itself
  command
      ->add_flag("--generate", options->generate,
                 "Instead: tokens a second of generation, against what the weights' traffic allows")
      ->excludes(task, batch, length, layers, width, vocab, compare, dropout, recompute, phases,
                 growth, ranks);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n  edelta bench\n  edelta bench --models edelta,gpt --task stability\n"
      "  edelta bench --dropout 0.2 --compare none\n"
      "  edelta bench --models gpt --vocab 50257 --batch 8 --length 256 --width 256\n"
      "  edelta bench --models gpt,edelta --layers 12 --width 768 --batch 4 --length 256\n"
      "  edelta bench --models edelta --growth --compare composite\n"
      "  edelta bench --models trm,trm-mlp,trm-jpmhc,trm-edelta --phases\n"
      "  edelta bench --generate --threads 1\n  edelta bench --ranks 2");
  command->callback([options] { run_bench(*options); });
}

}  // namespace edelta::cli
