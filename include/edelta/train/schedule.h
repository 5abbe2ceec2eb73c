// The learning rate of each iteration.
#pragma once

#include <cstdint>

#include "edelta/train/config.h"

namespace edelta::train {

// Where the cosine ends.
int64_t schedule_end(const Protocol& protocol);

// Linear from 0 over `warmup` iterations, then half a cosine from `lr` to `min_lr`, which holds
// from schedule_end() on; `iteration` counts from 0.
double learning_rate(const Protocol& protocol, int64_t iteration);

}  // namespace edelta::train
