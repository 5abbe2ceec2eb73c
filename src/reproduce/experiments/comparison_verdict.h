// Does a connection help, and is it its operator that does? In plain words.
#pragma once

#include <string>
#include <vector>

#include "reproduce/run_archive.h"
#include "reproduce/statistics.h"

namespace edelta::reproduce {

struct ComparedModel {
  std::string label;
  Statistics loss;  // over seeds; n = 0: none is run
};

// A model with an operator, and the same without it.
struct Controlled {
  std::string model, control;
};

struct ComparedRoles {
  std::string plain;  // what the others are compared with
  std::vector<Controlled> controlled;
};

// `where`: "on this text, at this size". Two means are told apart where they differ by more than
// the sum of their standard deviations.
std::string comparison_verdict(const std::vector<ComparedModel>& models, const ComparedRoles& roles,
                               const std::string& where);
// The same of a table's variants and the final losses of their runs.
std::string comparison_verdict(RunArchive& archive, const TrainingTable& table,
                               const ComparedRoles& roles, const std::string& where);

}  // namespace edelta::reproduce
