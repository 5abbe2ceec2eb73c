// The memory of tensors on the CPU.
//
// A training step makes and drops the same large tensors again and again. The system's allocator
// gives such blocks back to the kernel and gets them anew, page by page and zeroed, which costs
// some 5 % of a step. Here they are kept and reused.
#pragma once

#include <cstdint>
#include <optional>

namespace edelta::base {

// Makes this process's tensors live in reused blocks with large pages. For programs, not for
// libraries: it replaces libtorch's allocator. Call it before the first tensor is made.
void reuse_tensor_memory();

// Whether large blocks of new tensors are kept for reuse (as they are at the start), or given back
// to the system as libtorch does. Without reuse_tensor_memory() it has no effect.
void keep_tensor_memory(bool keep);

// Gives back what is kept for reuse.
void release_tensor_memory();

// Bytes of this process's memory that are resident now, and at most since the last reset; absent
// where the system does not tell.
std::optional<int64_t> resident_memory();
std::optional<int64_t> peak_resident_memory();
bool reset_peak_resident_memory();

}  // namespace edelta::base
