// The sub-commands; each is defined in the file of its name and adds itself to the program.
#pragma once

#include <CLI/CLI.hpp>

namespace edelta::cli {

void add_baselines(CLI::App& app);
void add_bench(CLI::App& app);
void add_compare(CLI::App& app);
void add_completion(CLI::App& app);
void add_data(CLI::App& app);
void add_demo(CLI::App& app);
void add_depth(CLI::App& app);
void add_doctor(CLI::App& app);
void add_eval(CLI::App& app);
void add_export(CLI::App& app);
void add_generate(CLI::App& app);
void add_inspect(CLI::App& app);
void add_norms(CLI::App& app);
void add_params(CLI::App& app);
void add_parity(CLI::App& app);
void add_predict(CLI::App& app);
void add_puzzles(CLI::App& app);
void add_reflect(CLI::App& app);
void add_report(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_rollout(CLI::App& app);
void add_runs(CLI::App& app);
void add_solve(CLI::App& app);
void add_text(CLI::App& app);
void add_train(CLI::App& app);
void add_verify(CLI::App& app);
void add_watch(CLI::App& app);

}  // namespace edelta::cli
