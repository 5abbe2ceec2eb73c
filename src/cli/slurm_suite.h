// The steps of a suite as jobs of Slurm.
//
// Every step is an element of a job array and needs nothing but the suite's folder, which all
// machines see, and this program under the path that it has here. In the folder:
//   slurm/jobs.json         which job each step was given last, "JOB_INDEX"
//   slurm/steps/NAME.sh     what the job does
//   slurm/steps/NAME.exit   how the step ended, where it did so by itself
//   slurm/arrays/N/INDEX    the step of an element
//   slurm/said/JOB_INDEX    what the script itself had to say
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reproduce/step_status.h"
#include "reproduce/suite_folder.h"

namespace edelta::cli {

enum class JobState { done, runs, waits, failed, stopped, to_do };
std::string to_string(JobState state);

struct SlurmStep {
  reproduce::Step step;
  JobState state = JobState::to_do;
  std::string reason = {};  // of a failure, or why it was stopped
  double seconds = 0;       // estimated, of what is left
};

// InputError where there is no Slurm on this machine.
void require_slurm();

class SlurmSuite {
 public:
  // `folder` has an absolute path.
  SlurmSuite(const reproduce::SuiteFolder& folder, const reproduce::SuiteManifest& manifest);

  // Failure where Slurm does not answer; it is only asked if there are jobs.
  std::vector<SlurmStep> look() const;
  // Gives jobs to what is not done and has none; `options` are further ones for sbatch, between
  // spaces. Returns how many were submitted. InputError where sbatch refuses.
  int64_t submit(std::vector<SlurmStep>& steps, const std::string& options);

 private:
  struct Element {
    const reproduce::Step* step;
    int64_t index;
  };
  std::filesystem::path file(const std::string& name) const;
  void write_script(const reproduce::Step& step) const;
  void submit_array(const std::vector<Element>& elements, const std::string& after, double seconds,
                    const std::string& options);

  const reproduce::SuiteFolder& folder_;
  const reproduce::SuiteManifest& manifest_;
  std::map<std::string, std::string> jobs_;  // step → job
};

}  // namespace edelta::cli
