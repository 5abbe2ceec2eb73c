// Ranks that train one run must be about the same thing, and compute alike.
#pragma once

#include "edelta/data/identity.h"
#include "edelta/dist/ranks.h"
#include "edelta/train/config.h"
#include "edelta/train/run_folder.h"

namespace edelta::train {

// InputError at every rank, which names the first that differs from rank 0 and in what. Where the
// data of a run lies may differ, its content may not.
void require_same_configuration(dist::Ranks& ranks, const TrainConfig& config,
                                const data::Identity& data_files);

// The same for versions, instruction sets, threads, implementations and the order of sums, on which
// bits depend: ranks take the same steps only where each computes the same from the same gradients.
void require_same_computation(dist::Ranks& ranks, const Compute& compute);

}  // namespace edelta::train
