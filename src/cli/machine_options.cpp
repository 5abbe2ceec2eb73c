#include "cli/machine_options.h"

#include <string>

#include "edelta/base/machine.h"
#include "edelta/ops/implementation.h"

namespace edelta::cli {

void add_threads_option(CLI::App& command) {
  command
      .add_option_function<int64_t>(
          "--threads", [](int64_t threads) { base::set_threads(threads); },
          "Threads to compute with (default: OMP_NUM_THREADS, or all CPUs)")
      ->check(CLI::Range(1, 1024));
}

void add_machine_options(CLI::App& command) {
  add_threads_option(command);
  command
      .add_option_function<std::string>(
          "--impl",
          [](const std::string& name) { ops::set_implementation(ops::parse_implementation(name)); },
          "Implementation of the ops: fused kernels or plain libtorch (default: fused)")
      ->check(CLI::IsMember({"fused", "composite"}));
}

}  // namespace edelta::cli
