#include "edelta/base/blas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include "edelta/torch.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

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

// What OpenBLAS's loops for a core compute with. Of a core that is not named here nothing is known.
std::optional<kernels::Isa> isa_of_core(const std::string& core) {
  using kernels::Isa;
  static const std::map<Isa, std::set<std::string>> cores{
      {Isa::none, {"Katmai",    "Coppermine", "Northwood",  "Prescott",   "Banias",
                   "Core2",     "Penryn",     "Dunnington", "Nehalem",    "Sandybridge",
                   "Atom",      "Nano",       "Athlon",     "Opteron",    "Opteron_SSE3",
                   "Barcelona", "Bobcat",     "Bulldozer",  "Piledriver", "Steamroller"}},
      {Isa::avx2, {"Haswell", "Excavator", "Zen"}},
      {Isa::avx512, {"SkylakeX", "Cooperlake", "SapphireRapids"}}};
  for (const auto& [isa, names] : cores) {
    if (names.contains(core)) return isa;
  }
  return std::nullopt;
}

// Compares the core that OpenBLAS computes as for with the CPU.
void judge_core(Blas& blas) {
  const kernels::Isa cpu = kernels::isa_of_cpu();
  const kernels::Isa core = isa_of_core(blas.core).value_or(cpu);
  if (core >= cpu) return;
  blas.better_core = cpu == kernels::Isa::avx512 ? "SkylakeX" : "Haswell";
  blas.much_older_core = core == kernels::Isa::none;
}

std::string warning_of_older_core(const Blas& blas) {
  return fmt::format(
      "warning: OpenBLAS computes as for an older CPU ({}), {} times slower than this one can; "
      "remedy: OPENBLAS_CORETYPE={} in the environment or, where that changes nothing, another "
      "OpenBLAS",
      blas.core, blas.much_older_core ? "two to five" : "up to two", blas.better_core);
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
    blas.core = told_by(blas.library, "openblas_get_corename");
    judge_core(blas);
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
  if (blas.much_older_core) return warning_of_older_core(blas);
  return std::nullopt;
}

std::optional<std::string> blas_warning_to_measure() {
  const Blas blas = blas_in_use();
  if (blas.reference || blas.better_core.empty()) return blas_warning();
  return warning_of_older_core(blas);
}

}  // namespace edelta::base
