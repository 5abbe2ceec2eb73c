#include "edelta/base/machine.h"

#include <dlfcn.h>
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
#include <filesystem>
#include <fstream>

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

std::string openblas_configuration() {
  auto* config = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  return config != nullptr ? config() : "";
}

// The sgemm_ that libtorch calls: the program's or a preloaded one, or else that of the libraries
// which libtorch itself names. Inside Python the latter need not be what this library is linked to.
void* sgemm_of_libtorch() {
  if (void* own = dlopen(nullptr, RTLD_LAZY); own != nullptr) {
    void* found = dlsym(own, "sgemm_");
    dlclose(own);
    if (found != nullptr) return found;
  }
  Dl_info libtorch{};
  if (dladdr(reinterpret_cast<void*>(&at::get_num_threads), &libtorch) == 0) return nullptr;
  void* library = dlopen(libtorch.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = dlsym(library, "sgemm_");
  dlclose(library);
  return found;
}

}  // namespace

Blas blas_in_use() {
  Blas blas;
  Dl_info info{};
  if (void* sgemm = sgemm_of_libtorch();
      sgemm != nullptr && dladdr(sgemm, &info) != 0 && info.dli_fname != nullptr) {
    std::error_code error;
    const auto resolved = std::filesystem::canonical(info.dli_fname, error);
    blas.library = error ? info.dli_fname : resolved.string();
  }
  const auto mentions = [&](const char* word) {
    return blas.library.find(word) != std::string::npos;
  };
  if (mentions("openblas")) {
    const std::string configuration = openblas_configuration();
    blas.name = configuration.empty() ? "OpenBLAS" : configuration;
  } else if (mentions("mkl")) {
    blas.name = "MKL";
  } else if (mentions("blis")) {
    blas.name = "BLIS";
  } else if (mentions("atlas")) {
    blas.name = "ATLAS";
  } else {
    blas.name = "reference BLAS";
    blas.slow = true;
  }
  return blas;
}

std::optional<std::string> blas_warning() {
  const Blas blas = blas_in_use();
  if (!blas.slow) return std::nullopt;
  return "warning: libtorch uses the reference BLAS (" + blas.library +
         "), some forty times slower than OpenBLAS; remedy: apt-get install "
         "libopenblas-openmp-dev, then rebuild";
}

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
  const Blas blas = blas_in_use();
  return {{"edelta", kVersion},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"blas", blas.name},
          {"cpu", cpu_name()},
          {"simd", kernels::isa_name()},
          {"libxsmm_target", kernels::gemm_target()},
          {"threads", threads()}};
}

}  // namespace edelta::base
