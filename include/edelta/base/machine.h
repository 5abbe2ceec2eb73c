// What the computations run on, and whether it is set up well.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace edelta::base {

// Threads for all computations: the CPUs this process may use, or OMP_NUM_THREADS, unless a number
// is given; at most kMostThreads. (libtorch's own default counts physical cores and is wrong on
// many virtual machines.)
inline constexpr int64_t kMostThreads = 1024;
void set_threads(std::optional<int64_t> threads);
int64_t threads();

std::string cpu_name();

// Bytes that this process may use: the machine's, or what its control group or `ulimit -v` leave.
double usable_memory();
// InputError "`what` take at least …" where that is more than there is: better before hours of
// work, or a machine that swaps, than after.
void require_memory(double bytes, const std::string& what);

// Measured rates in GFLOP/s, float32, all threads: pure FMA, and a large matrix product by
// libtorch.
double measure_fma_peak(double seconds = 0.2);
double measure_gemm(int64_t size = 1024, double seconds = 0.3);

// Versions and machine, for run folders and reports.
nlohmann::ordered_json describe_machine();

}  // namespace edelta::base
