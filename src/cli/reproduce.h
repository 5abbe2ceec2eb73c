// What edelta reproduce and edelta demo share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reproduce/results.h"

namespace edelta::cli {

struct ReproduceOptions {
  std::vector<std::string> names = {"all"};
  std::string preset = "quick";
  std::vector<uint64_t> seeds;    // empty: the preset's
  std::vector<std::string> only;  // patterns of steps' names; empty: all
  int64_t jobs = 0;               // 0: one for each CPU
  std::string out;                // empty: results/PRESET
  std::vector<std::string> text;  // files for language models; empty: the suite's, or the default
  bool dry_run = false;
  bool status = false;               // only show how far the steps are
  std::string launcher = "local";    // or slurm
  std::string slurm_options = {};    // further ones for sbatch
  bool json = false;                 // of a dry run
  std::vector<std::string> command;  // what continues it; empty: reproduce with these options
};

// Runs what is missing, writes the report and shows the results, also those of a suite of which
// steps failed.
void reproduce(const ReproduceOptions& options,
               const std::function<void(const reproduce::Results&)>& show);

// Where the results of these options are, and the page about them.
std::string results_folder(const ReproduceOptions& options);
std::string report_page(const ReproduceOptions& options);

}  // namespace edelta::cli
