// Does a port compute what the original computes? A trace file holds a model's configuration,
// parameters, inputs, outputs and gradients; this rebuilds the model and compares (the format is in
// docs/traces.md).
#pragma once

#include "edelta/torch.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace edelta::verify {

struct ParityTolerance {
  double value;     // outputs and losses
  double gradient;  // gradients
};

// What the dtype allows: 1e-9 and 1e-8 in float64, 2e-5 and 2e-4 in float32.
ParityTolerance default_tolerance(torch::ScalarType dtype);
// For a whole optimisation, whose rounding errors grow from step to step: 1e-8 and 1e-3.
ParityTolerance training_tolerance(torch::ScalarType dtype);

struct Comparison {
  std::string tensor;
  bool gradient = false;
  // The largest difference, relative to the largest magnitude of the expected tensor (absolute
  // where that is all zero); infinite when a computed number is not finite.
  double error = 0;
  double tolerance = 0;
  bool holds() const { return error <= tolerance; }
};

struct ParityReport {
  std::string file;
  std::string kind;  // "continuous", "token", "train", "operators" or "recursive"
  torch::ScalarType dtype = torch::kFloat64;
  std::vector<Comparison> comparisons;
  std::vector<std::string> notices;

  bool holds() const;
  // The comparison furthest from its tolerance, among values or gradients; null when there is none.
  const Comparison* worst(bool gradient) const;
};

// InputError when the file is no trace.
ParityReport check_parity(const std::filesystem::path& file, torch::ScalarType dtype,
                          std::optional<ParityTolerance> tolerance = std::nullopt);

}  // namespace edelta::verify
