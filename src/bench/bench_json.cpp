#include <nlohmann/json.hpp>

#include "base/required_fields.h"
#include "bench/bench.h"
#include "edelta/base/machine.h"

namespace edelta::bench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_json(const StepTimes& times) {
  return {{"step_s", times.step()},
          {"forward_s", times.forward},
          {"backward_s", times.backward},
          {"optimiser_s", times.optimiser}};
}

ordered_json to_json(const StepTimes& times, const StepMemory& memory) {
  ordered_json out = to_json(times);
  out["inference_tokens_per_s"] = times.inference;
  out["peak_resident_bytes"] = memory.peak;
  out["peak_growth_bytes"] = memory.growth;
  return out;
}

ordered_json to_json(const ModelBench& bench) {
  ordered_json out{{"model", bench.model},
                   {"tokens", bench.tokens},
                   {"gflop", bench.gflop},
                   {"fma_peak_gflops", bench.peak_gflops},
                   {"share_of_peak", bench.share_of_peak()},
                   {"fused", to_json(bench.fused, bench.fused_memory)}};
  for (const Phase& phase : bench.phases) {
    out["phases"].push_back(
        {{"name", phase.name}, {"calls", phase.calls}, {"seconds", phase.seconds}});
  }
  if (bench.composite) {
    out["composite"] = to_json(*bench.composite, bench.composite_memory);
    out["speedup"] = bench.speedup();
  }
  if (bench.dropping) out["fused_with_dropout"] = to_json(*bench.dropping);
  return out;
}

StepTimes times_from_json(const json& object) {
  return {.forward = base::required<double>(object, "forward_s"),
          .backward = base::required<double>(object, "backward_s"),
          .optimiser = base::required<double>(object, "optimiser_s"),
          .inference = base::required<double>(object, "inference_tokens_per_s")};
}

StepMemory memory_from_json(const json& object) {
  StepMemory memory;
  if (object.contains("peak_resident_bytes")) {
    memory = {base::required<int64_t>(object, "peak_resident_bytes"),
              base::required<int64_t>(object, "peak_growth_bytes")};
  }
  return memory;
}

ModelBench model_from_json(const json& object) {
  const json& fused = base::required_entry(object, "fused");
  ModelBench bench;
  bench.model = base::required<std::string>(object, "model");
  bench.tokens = base::required<int64_t>(object, "tokens");
  bench.gflop = base::required<double>(object, "gflop");
  bench.peak_gflops = base::required<double>(object, "fma_peak_gflops");
  bench.fused = times_from_json(fused);
  bench.fused_memory = memory_from_json(fused);
  if (object.contains("composite")) {
    const json& composite = base::required_entry(object, "composite");
    bench.composite = times_from_json(composite);
    bench.composite_memory = memory_from_json(composite);
  }
  if (object.contains("phases")) {
    for (const json& phase : base::required_list(object, "phases")) {
      bench.phases.push_back({base::required<std::string>(phase, "name"),
                              base::required<int64_t>(phase, "calls"),
                              base::required<double>(phase, "seconds")});
    }
  }
  return bench;
}

}  // namespace

ordered_json to_json(const BenchReport& report) {
  ordered_json results = ordered_json::array();
  for (const ModelBench& bench : report.results) results.push_back(to_json(bench));
  return {{"machine", base::describe_machine()},
          {"batch", report.batch},
          {"length", report.length},
          {"gemm_gflops", report.gemm_gflops},
          {"results", results}};
}

BenchReport bench_report_from_json(const json& object, const std::string& source) {
  BenchReport report;
  with_source(source, [&] {
    report.batch = base::required<int64_t>(object, "batch");
    report.length = base::required<int64_t>(object, "length");
    report.gemm_gflops = base::required<double>(object, "gemm_gflops");
    for (const json& result : base::required_list(object, "results")) {
      report.results.push_back(model_from_json(result));
    }
  });
  return report;
}

}  // namespace edelta::bench
