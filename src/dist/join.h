// Becoming one of several ranks.
#pragma once

#include <chrono>
#include <memory>

#include "dist/launch.h"
#include "edelta/dist/ranks.h"

namespace edelta::dist {

// By c10d with Gloo. Returns when all ranks are there; `limit` is how long they wait for each
// other, now and later. From then on this process ignores SIGPIPE: a rank that ends is an error
// here, not the end of this one. InputError and Failure as meet() says.
std::unique_ptr<Ranks> join(const Launch& launch, std::chrono::milliseconds limit);

}  // namespace edelta::dist
