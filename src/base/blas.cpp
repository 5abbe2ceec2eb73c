#include "edelta/base/blas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include "edelta/torch.h"

#include <filesystem>

#include "kernels/cpu.h"

namespace edelta::base {
namespace {

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

// What a function of OpenBLAS without arguments says of that very library; empty where it has none.
std::string told_by(const std::string& library, const char* function) {
  void* loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) return "";
  auto* tell = reinterpret_cast<const char* (*)()>(dlsym(loaded, function));
  const std::string told = tell != nullptr ? tell() : "";
  dlclose(loaded);
  return told;
}

std::string better_core_than(const std::string& core) {
  if (core != "Prescott") return "";
  switch (kernels::isa_of_cpu()) {
    case kernels::Isa::avx512:
      return "SkylakeX";
    case kernels::Isa::avx2:
      return "Haswell";
    case kernels::Isa::none:
      break;
  }
  return "";
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
    const std::string configuration = told_by(blas.library, "openblas_get_config");
    blas.name = configuration.empty() ? "OpenBLAS" : configuration;
    blas.better_core = better_core_than(told_by(blas.library, "openblas_get_corename"));
  } else if (mentions("mkl")) {
    blas.name = "MKL";
  } else if (mentions("blis")) {
    blas.name = "BLIS";
  } else if (mentions("atlas")) {
    blas.name = "ATLAS";
  } else {
    blas.name = "reference BLAS";
    blas.reference = true;
  }
  return blas;
}

std::optional<std::string> blas_warning() {
  const Blas blas = blas_in_use();
  if (blas.reference) {
    return fmt::format(
        "warning: libtorch uses the reference BLAS ({}), some forty times slower than OpenBLAS; "
        "remedy: apt-get install libopenblas-openmp-dev, then rebuild",
        blas.library);
  }
  if (!blas.better_core.empty()) {
    return fmt::format(
        "warning: OpenBLAS computes as for a CPU of 2004 (Prescott), some five times slower than "
        "this one can; remedy: OPENBLAS_CORETYPE={} in the environment",
        blas.better_core);
  }
  return std::nullopt;
}

}  // namespace edelta::base
