#include "reproduce/measure.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edelta/base/machine.h"
#include "edelta/data/dataset.h"
#include "edelta/models/parameter_count.h"
#include "edelta/models/registry.h"
#include "edelta/probes/baselines.h"
#include "edelta/train/run_folder.h"
#include "reproduce/solve_puzzle.h"
#include "reproduce/write_samples.h"

namespace edelta::reproduce {
namespace {

using nlohmann::ordered_json;

struct Measure {
  ordered_json operator()(const verify::TheoremOptions& options) const {
    return to_json(verify::verify_theorems(options));
  }
  ordered_json operator()(const CountParameters&) const {
    return models::to_json(models::count_matched());
  }
  ordered_json operator()(const MeasureBaselines& request) const {
    return to_json(probes::measure_baselines(data::generate(request.task)));
  }
  ordered_json operator()(const ProbeNorms& probe) const {
    const auto model = train::load_run_model(train::RunFolder(probe.run), train::Which::best);
    return to_json(probe_norms(*model, probe.options), probe.options, probe.run.string());
  }
  ordered_json operator()(const ProbeOperators& probe) const {
    const train::RunFolder run(probe.run);
    const auto model = train::load_run_model(run, train::Which::best);
    const auto data = train::load_run_data(run.read_manifest());
    return probes::to_json(
        probes::inspect_operators(*model, data->validation_input(probe.sequences)));
  }
  ordered_json operator()(const WriteSamples& request) const { return write_samples(request); }
  ordered_json operator()(const SolvePuzzle& request) const { return solve_puzzle(request); }
  ordered_json operator()(probes::ReflectionProbeOptions options) const {
    options.workers = base::threads();
    return to_json(probe_reflection(options), options);
  }
  ordered_json operator()(const probes::DepthProbeOptions& options) const {
    return to_json(probe_depth(options), options);
  }
  ordered_json operator()(const bench::BenchOptions& options) const {
    std::vector<models::ModelConfig> configs;
    for (const auto& architecture : models::architectures()) {
      configs.push_back(bench::matched_config(architecture.name, options));
    }
    return to_json(bench_models(configs, options));
  }
};

}  // namespace

ordered_json measure(const Request& request) { return std::visit(Measure(), request); }

}  // namespace edelta::reproduce
