// edelta doctor: what the program found on this machine, and how fast it is.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/print_json.h"
#include "edelta/base/blas.h"
#include "edelta/base/machine.h"

namespace edelta::cli {
namespace {

// Below this share of the FMA peak, matrix products are not done by an optimised BLAS.
constexpr double kSlowShare = 0.2;

void run_doctor(bool json) {
  nlohmann::ordered_json found = base::describe_machine();
  const base::Blas blas = base::blas_in_use();
  const double peak = base::measure_fma_peak();
  const double gemm = base::measure_gemm();
  found["blas_library"] = blas.library;
  found["fma_peak_gflops"] = peak;
  found["gemm_gflops"] = gemm;
  std::string warning = base::blas_warning_to_measure().value_or("");
  if (warning.empty() && peak > 0 && gemm < kSlowShare * peak) {
    warning = fmt::format(
        "warning: matrix products reach only {:.0f} % of the FMA peak; is another program using "
        "the CPU?",
        100 * gemm / peak);
  }
  found["warning"] = nullptr;
  if (!warning.empty()) found["warning"] = warning;
  if (json) {
    print_json(found);
    return;
  }
  for (const auto& [key, value] : found.items()) {
    if (key == "warning" || key.ends_with("_gflops")) continue;
    fmt::print("{:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  fmt::print("{:<16} {:.0f} GFLOP/s\n{:<16} {:.0f} GFLOP/s ({:.0f} % of the peak)\n", "FMA peak",
             peak, "GEMM", gemm, peak > 0 ? 100 * gemm / peak : 0);
  fmt::print("{}\n", warning.empty() ? "everything is in order" : warning);
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Show versions, BLAS, threads and SIMD level, and measure the machine's peak");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->footer("Example:\n  edelta doctor");
  command->callback([json] { run_doctor(*json); });
}

}  // namespace edelta::cli
