// The loss over a whole split, deterministic.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <map>
#include <string>

#include "edelta/data/dataset.h"
#include "edelta/dist/ranks.h"
#include "edelta/models/model.h"

namespace edelta::train {

struct Evaluation {
  double loss = 0;
  std::map<std::string, double> strata = {};
  // What else the loss means, by name: perplexity and bits_per_byte of text.
  std::map<std::string, double> measures = {};
};

// Mean squared error over all sequences of x [N, T, dim], and over the sequences or positions of
// each stratum; `batch` sequences at a time, which the ranks divide among them: all get the result,
// and its bits do not depend on their number. Leaves the model in evaluation mode.
Evaluation evaluate(models::Model& model, const torch::Tensor& x, const torch::Tensor& y,
                    const std::vector<data::Stratum>& strata = {}, int64_t batch = 64,
                    dist::Ranks& ranks = dist::alone());

}  // namespace edelta::train
