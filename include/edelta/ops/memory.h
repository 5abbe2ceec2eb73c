// The memory of tensors on the CPU.
//
// A training step makes and drops the same large tensors again and again. The system's allocator
// gives such blocks back to the kernel and gets them anew, page by page and zeroed, which costs
// some 5 % of a step. Here they are kept and reused.
#pragma once

#include <cstdint>
#include <optional>

namespace edelta::ops {

// Makes this process's tensors live in reused blocks with large pages. The composite
// implementation keeps libtorch's own way, so that it stays what libtorch is. For programs, not
// for libraries: it replaces libtorch's allocator. Call it before the first tensor is made.
void reuse_tensor_memory();

// Gives back what is kept for reuse.
void release_tensor_memory();

// Bytes of this process's memory that are resident now, and at most since the last reset; absent
// where the system does not tell.
std::optional<int64_t> resident_memory();
std::optional<int64_t> peak_resident_memory();
bool reset_peak_resident_memory();

}  // namespace edelta::ops
