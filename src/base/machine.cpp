#include "edelta/base/machine.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>
#include <torch/version.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include "edelta/torch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "edelta/base/blas.h"
#include "edelta/base/error.h"
#include "edelta/version.h"
#include "kernels/cpu.h"
#include "kernels/fma_peak.h"

namespace edelta::base {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void set_threads(std::optional<int64_t> threads) {
  int64_t count = omp_get_num_procs();
  if (const char* variable = std::getenv("OMP_NUM_THREADS"); variable != nullptr) {
    // More threads than CPUs only wait for each other, unless somebody asks for them by name.
    const int64_t given = std::strtoll(variable, nullptr, 10);
    if (given > 0) count = std::min(given, count);
  }
  at::set_num_threads(
      static_cast<int>(std::clamp<int64_t>(threads.value_or(count), 1, kMostThreads)));
}

int64_t threads() { return at::get_num_threads(); }

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

double usable_memory() {
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  double limit = 0;
  // "max" where the group has no limit.
  if (std::ifstream file("/sys/fs/cgroup/memory.max"); file >> limit) {
    bytes = std::min(bytes, limit);
  }
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<double>(address_space.rlim_cur));
  }
  return bytes;
}

void require_memory(double bytes, const std::string& what) {
  const double usable = usable_memory();
  if (bytes <= usable) return;
  constexpr double kGibi = 1024.0 * 1024 * 1024;
  throw InputError(fmt::format("{} take at least {:.3g} GiB of memory; there are {:.3g}", what,
                               bytes / kGibi, usable / kGibi));
}

double measure_fma_peak(double seconds) {
  if (kernels::isa() == kernels::Isa::none) return 0;
  double gflops = 0;
  kernels::fma_peak({.seconds = seconds, .gflops = &gflops});
  return gflops;
}

double measure_gemm(int64_t size, double seconds) {
  const torch::NoGradGuard no_grad;
  const auto a = torch::randn({size, size});
  auto c = torch::matmul(a, a);
  double fastest = 1e30;
  for (const auto begin = Clock::now(); seconds_since(begin) < seconds;) {
    const auto start = Clock::now();
    torch::matmul_out(c, a, a);
    fastest = std::min(fastest, seconds_since(start));
  }
  return 2e-9 * static_cast<double>(size * size * size) / fastest;
}

nlohmann::ordered_json describe_machine() {
  return {{"edelta", kVersion},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"blas", blas_in_use().name},
          {"cpu", cpu_name()},
          {"simd", kernels::isa_name()},
          {"libxsmm_target", kernels::gemm_target()},
          {"threads", threads()}};
}

}  // namespace edelta::base
