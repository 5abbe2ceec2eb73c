#include "edelta/base/memory.h"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace edelta::base {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargePage = size_t{2} << 20;
constexpr size_t kSmallestKept = size_t{1} << 20;  // smaller blocks are malloc's own trade
constexpr size_t kKeptUnit = size_t{64} << 10;     // sizes of kept blocks are multiples of it
// Kept and used blocks together stay below this multiple of the most that was ever used at once.
constexpr double kSlack = 1.25;

// Stands in front of every tensor's data.
struct alignas(kAlignment) Header {
  void* block;
  size_t size;  // of the whole block
  bool reusable;
};
static_assert(sizeof(Header) == kAlignment);

// Kept blocks begin at large pages, and kernels that walk through several tensors side by side
// would meet the same cache sets and memory banks in all of them: each block therefore puts its
// data a different way behind its beginning, within the `room` that it has beside them.
size_t place_in(void* block, size_t room) {
  constexpr size_t kPlaces = 7;
  const size_t place = reinterpret_cast<uintptr_t>(block) / kLargePage % kPlaces;
  return place * (room / kPlaces / kAlignment * kAlignment);
}

void* allocate_block(size_t alignment, size_t size) {
  void* block = std::aligned_alloc(alignment, size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// Its pages go back at once: malloc may keep a freed block in the middle of its heap.
void free_whole_pages(void* block, size_t size) {
  madvise(block, size, MADV_DONTNEED);
  std::free(block);
}

// Blocks that tensors no longer need, by size.
class KeptBlocks {
 public:
  void* take(size_t size) {
    const std::lock_guard lock(mutex_);
    void* block = nullptr;
    if (const auto found = blocks_.find(size); found != blocks_.end() && !found->second.empty()) {
      block = found->second.back();
      found->second.pop_back();
      if (found->second.empty()) blocks_.erase(found);
      kept_ -= size;
    } else {
      block = allocate(size);
    }
    used_ += size;
    most_used_ = std::max(most_used_, used_);
    return block;
  }

  // Called by deleters, which must not throw.
  void give_back(void* block, size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    used_ -= size;
    try {
      blocks_[size].push_back(block);
      kept_ += size;
    } catch (const std::bad_alloc&) {
      free_whole_pages(block, size);
    }
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    shrink_to(0);
    most_used_ = used_;
  }

 private:
  void* allocate(size_t size) {
    const size_t used = used_ + size;
    const auto limit =
        static_cast<size_t>(kSlack * static_cast<double>(std::max(most_used_, used)));
    shrink_to(limit - used);
    void* block = std::aligned_alloc(kLargePage, size);
    if (block == nullptr) {
      shrink_to(0);
      block = allocate_block(kLargePage, size);
    }
    // The rest, behind its whole large pages, has small ones: a large page for the last byte would
    // double what a tensor of 2 MiB takes.
    madvise(block, size / kLargePage * kLargePage, MADV_HUGEPAGE);
    return block;
  }

  void shrink_to(size_t size) {
    while (kept_ > size && !blocks_.empty()) {
      const auto largest = std::prev(blocks_.end());
      if (!largest->second.empty()) {
        free_whole_pages(largest->second.back(), largest->first);
        kept_ -= largest->first;
        largest->second.pop_back();
      }
      if (largest->second.empty()) blocks_.erase(largest);
    }
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> blocks_;
  size_t used_ = 0, most_used_ = 0, kept_ = 0;
};

KeptBlocks& kept_blocks() {
  // Never destroyed: static tensors may outlive any other static object.
  static auto* const kept = new KeptBlocks;
  return *kept;
}

void free_block(void* data) {
  if (data == nullptr) return;
  auto* header = static_cast<Header*>(data) - 1;
  if (header->reusable) {
    kept_blocks().give_back(header->block, header->size);
  } else {
    std::free(header->block);
  }
}

std::atomic<bool> keeps_blocks{true};

class ReusingAllocator : public c10::Allocator {
 public:
  // The function to override is const in libtorch 1.13 and is not in 2.6: one of these does it.
  c10::DataPtr allocate(size_t bytes) { return std::as_const(*this).allocate(bytes); }
  c10::DataPtr allocate(size_t bytes) const {
    if (bytes == 0) return {nullptr, nullptr, &free_block, c10::Device(c10::DeviceType::CPU)};
    const bool reusable = bytes >= kSmallestKept && keeps_blocks;
    const size_t unit = reusable ? kKeptUnit : kAlignment;
    const size_t needed = bytes + sizeof(Header);
    const size_t size = (needed + unit - 1) / unit * unit + (reusable ? kKeptUnit : 0);
    void* block = reusable ? kept_blocks().take(size) : allocate_block(kAlignment, size);
    char* place = static_cast<char*>(block) + (reusable ? place_in(block, size - needed) : 0);
    void* data = new (place) Header{block, size, reusable} + 1;
    return {data, data, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  // Asked for by libtorch 2.6 alone.
  void copy_data(void* to, const void* from, size_t bytes) const { std::memcpy(to, from, bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
};

// A line "name:  123 kB" of /proc/self/status, in bytes.
std::optional<int64_t> status_line(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::atoll(line.c_str() + name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

void reuse_tensor_memory() {
  static ReusingAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/1);
}

void keep_tensor_memory(bool keep) { keeps_blocks = keep; }

void release_tensor_memory() {
  kept_blocks().clear();
  malloc_trim(0);
}

std::optional<int64_t> resident_memory() { return status_line("VmRSS"); }
std::optional<int64_t> peak_resident_memory() { return status_line("VmHWM"); }

bool reset_peak_resident_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace edelta::base
