// How long each kernel takes: every call goes through one dispatch, which can keep the time.
#pragma once

#include <cstdint>
#include <vector>

namespace edelta::kernels {

struct KernelTime {
  const char* name;
  int64_t calls;
  double seconds;
};

// Counts from zero until stop_profile(), over all threads that call kernels.
void start_profile();
// The kernels that were called since start_profile().
std::vector<KernelTime> stop_profile();

}  // namespace edelta::kernels
