#include "cli/blas_core.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "edelta/base/blas.h"

namespace edelta::cli {
namespace {

constexpr const char* kCore = "OPENBLAS_CORETYPE";
constexpr const char* kRestarted = "EDELTA_RESTARTED_FOR_BLAS";

// So that nothing is left of it for processes that this one starts, perhaps on another CPU.
void forget_core() {
  ::unsetenv(kCore);
  ::unsetenv(kRestarted);
}

}  // namespace

void restart_with_right_blas_core(char** argv) {
  if (std::getenv(kRestarted) != nullptr) return forget_core();
  if (std::getenv(kCore) != nullptr) return;
  const std::string core = base::blas_in_use().better_core;
  if (core.empty()) return;
  ::setenv(kCore, core.c_str(), /*replace=*/1);
  ::setenv(kRestarted, "1", /*replace=*/1);
  ::execv("/proc/self/exe", argv);
  // Slow, then; the commands that multiply much say so.
  forget_core();
}

}  // namespace edelta::cli
