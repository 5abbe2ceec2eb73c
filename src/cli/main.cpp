// The edelta program: parses the command line, runs one sub-command, turns errors into one line and
// an exit code (2 for bad input, 1 for a failure).
#include <c10/util/Exception.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "cli/interrupted.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/base/memory.h"
#include "edelta/version.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kFailed = 1;

int complain(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "edelta: %s\n", message.c_str());
  return code;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string command = "edelta";
  for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
  return complain(std::string(error.what()) + " (see " + command + " --help)", kBadInput);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Transformers with geometric residual connections: EΔ-MHC-Geo, GPT, DDL, mHC, JPmHC",
               "edelta"};
  app.set_version_flag("--version", std::string("edelta ") + edelta::kVersion);
  app.require_subcommand(1);
  edelta::cli::add_train(app);
  edelta::cli::add_eval(app);
  edelta::cli::add_rollout(app);
  edelta::cli::add_inspect(app);
  edelta::cli::add_norms(app);
  edelta::cli::add_export(app);
  edelta::cli::add_data(app);
  edelta::cli::add_reproduce(app);
  edelta::cli::add_report(app);
  edelta::cli::add_demo(app);
  edelta::cli::add_reflect(app);
  edelta::cli::add_verify(app);
  edelta::cli::add_parity(app);
  edelta::cli::add_params(app);
  edelta::cli::add_bench(app);
  edelta::cli::add_doctor(app);
  try {
    edelta::base::reuse_tensor_memory();
    edelta::base::set_threads(std::nullopt);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  } catch (const edelta::cli::Interrupted& interrupted) {
    return interrupted.exit_code;
  } catch (const edelta::InputError& error) {
    return complain(error.what(), kBadInput);
  } catch (const c10::Error& error) {
    return complain(error.what_without_backtrace(), kFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
}
