// Where a suite's results live:
//   suite.json       what was asked for: preset, seeds, experiments, threads of a job, the text
//   text/            the tokens that language models learn from
//   runs/NAME/       run folders
//   measurements/    one JSON file for each measurement that is no training
//   logs/NAME.txt    what each step said
//   failures.json    what the last call could not do
//   results.json     everything put together, see results_json.h
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace edelta::reproduce {

// Results depend on the threads of a job in their last bits, so they are kept with the suite.
struct SuiteManifest {
  std::string preset;
  std::vector<uint64_t> seeds;
  int64_t threads = 1;
  std::vector<std::string> names;  // of experiments or tables, as select_experiments takes them
  std::string text = {};           // what language models learn from, in words
  // Of these, the steps whose names match such a pattern; of one call, not kept. Empty: all.
  std::vector<std::string> only = {};
};

class SuiteFolder {
 public:
  explicit SuiteFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path run(const std::string& name) const { return path_ / "runs" / name; }
  std::filesystem::path text() const { return path_ / "text"; }
  std::filesystem::path measurement(const std::string& name) const {
    return path_ / "measurements" / (name + ".json");
  }
  std::filesystem::path log(const std::string& name) const {
    return path_ / "logs" / (name + ".txt");
  }
  std::filesystem::path results_file() const { return path_ / "results.json"; }

  bool exists() const { return std::filesystem::exists(manifest_file()); }
  // InputError if there is no suite.
  SuiteManifest read_manifest() const;
  void write_manifest(const SuiteManifest& manifest) const;

  // Step → reason.
  std::map<std::string, std::string> read_failures() const;
  void write_failures(const std::map<std::string, std::string>& failures) const;

 private:
  std::filesystem::path manifest_file() const { return path_ / "suite.json"; }
  std::filesystem::path failures_file() const { return path_ / "failures.json"; }

  std::filesystem::path path_;
};

// The manifest of a new suite, or of the one that is there with the names and seeds added. Empty
// `seeds`: those of the suite or the preset. InputError when the folder's preset is another.
SuiteManifest merged_manifest(const SuiteFolder& folder, const std::string& preset,
                              const std::vector<std::string>& names,
                              const std::vector<uint64_t>& seeds, int64_t threads);

}  // namespace edelta::reproduce
