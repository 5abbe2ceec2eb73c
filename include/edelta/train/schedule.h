// The learning rate of each iteration.
#pragma once

#include <cstdint>

#include "edelta/train/config.h"

namespace edelta::train {

// Linear from 0 over `warmup` iterations, then half a cosine from `lr` to `min_lr` at the end;
// `iteration` counts from 0.
double learning_rate(const Protocol& protocol, int64_t iteration);

}  // namespace edelta::train
