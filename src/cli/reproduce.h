// What edelta reproduce and edelta demo share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edelta::cli {

struct ReproduceOptions {
  std::vector<std::string> names = {"all"};
  std::string preset = "quick";
  std::vector<uint64_t> seeds;  // empty: the preset's
  int64_t jobs = 0;             // 0: one for each CPU
  std::string out;              // empty: results/PRESET
  bool dry_run = false;
  bool json = false;
};

// Runs what is missing, writes the report, prints where it is.
void reproduce(const ReproduceOptions& options);

// Where the results of these options are.
std::string results_folder(const ReproduceOptions& options);

}  // namespace edelta::cli
