// The edelta program: parses the command line, runs one sub-command, turns errors into one line and
// an exit code (2 for bad input, 1 for a failure).
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <system_error>

#include "base/printable.h"
#include "cli/blas_core.h"
#include "cli/commands.h"
#include "cli/interrupted.h"
#include "cli/notice.h"
#include "cli/shell_command.h"
#include "cli/standard_streams.h"
#include "cli/usage_error.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/base/memory.h"
#include "edelta/version.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kFailed = 1;
constexpr const char* kNoMemory = "not enough memory";

// Always one line, whatever names are in it.
int complain(const std::string& message, int code) {
  std::fflush(stdout);
  edelta::cli::notice("edelta: {}\n", edelta::base::escaped(message));
  return code;
}

// Without the name of the function that failed.
std::string reason(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().empty() ? "current folder" : error.path1().string();
  return path + ": " + error.code().message();
}

// Runs the command, or shows what --help and --version ask for.
void run_command(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    app.exit(asked, text);
    fmt::print("{}", text.str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  edelta::cli::open_standard_streams();
  edelta::cli::restart_with_right_blas_core(argv);
  // Begun by way of /proc/self/exe, as steps of a suite are, it would be "exe" for ps and pkill.
  ::prctl(PR_SET_NAME, program_invocation_short_name);
  edelta::cli::set_program_name(argc > 0 ? argv[0] : "edelta");
  CLI::App app{"Transformers with geometric residual connections: EΔ-MHC-Geo, GPT, DDL, mHC, JPmHC",
               "edelta"};
  app.set_version_flag("--version", std::string("edelta ") + edelta::kVersion);
  app.require_subcommand(1);
  edelta::cli::add_train(app);
  edelta::cli::add_runs(app);
  edelta::cli::add_watch(app);
  edelta::cli::add_compare(app);
  edelta::cli::add_eval(app);
  edelta::cli::add_predict(app);
  edelta::cli::add_generate(app);
  edelta::cli::add_solve(app);
  edelta::cli::add_rollout(app);
  edelta::cli::add_inspect(app);
  edelta::cli::add_norms(app);
  edelta::cli::add_export(app);
  edelta::cli::add_text(app);
  edelta::cli::add_data(app);
  edelta::cli::add_puzzles(app);
  edelta::cli::add_reproduce(app);
  edelta::cli::add_report(app);
  edelta::cli::add_demo(app);
  edelta::cli::add_reflect(app);
  edelta::cli::add_depth(app);
  edelta::cli::add_baselines(app);
  edelta::cli::add_verify(app);
  edelta::cli::add_parity(app);
  edelta::cli::add_params(app);
  edelta::cli::add_bench(app);
  edelta::cli::add_doctor(app);
  edelta::cli::add_completion(app);
  try {
    edelta::base::reuse_tensor_memory();
    edelta::base::set_threads(std::nullopt);
    run_command(app, argc, argv);
    return edelta::cli::finish_output();
  } catch (const CLI::ParseError& error) {
    return complain(edelta::cli::usage_error(app, error), kBadInput);
  } catch (const edelta::cli::Interrupted& interrupted) {
    return interrupted.exit_code;
  } catch (const edelta::InputError& error) {
    return complain(error.what(), kBadInput);
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(reason(error), kBadInput);
  } catch (const std::system_error& error) {
    if (edelta::cli::output_failed()) return edelta::cli::output_failure(error.code().value());
    return complain(error.what(), kFailed);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    const bool memory = message.find("can't allocate memory") != std::string::npos;
    return complain(memory ? kNoMemory : message, kFailed);
  } catch (const std::bad_alloc&) {
    return complain(kNoMemory, kFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
}
