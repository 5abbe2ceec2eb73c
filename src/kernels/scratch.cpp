#include "kernels/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace edelta::kernels {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallestBlock = size_t{1} << 20;
constexpr size_t kLargePage = size_t{2} << 20;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Block {
  std::unique_ptr<char, Free> memory;
  size_t size = 0;
};

// Blocks before `block` are full, those after it are empty; `used` bytes of `block` are taken.
struct Stack {
  std::vector<Block> blocks;
  size_t block = 0;
  size_t used = 0;
};

Stack& stack() {
  thread_local Stack mine;
  return mine;
}

// Large blocks ask for large pages: the products walk down columns of packed weights, whose rows
// lie a small page apart.
Block allocate(size_t size) {
  const bool large = size >= kLargePage;
  const size_t unit = large ? kLargePage : kAlignment;
  size = (size + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, size);
  if (memory == nullptr) throw std::bad_alloc();
  // Without them it is slower and just as right.
  if (large) madvise(memory, size, MADV_HUGEPAGE);
  return {std::unique_ptr<char, Free>(static_cast<char*>(memory)), size};
}

}  // namespace

Scratch::Scratch() : block_(stack().block), used_(stack().used) {}

Scratch::~Scratch() {
  stack().block = block_;
  stack().used = used_;
}

float* Scratch::floats(int64_t count) {
  Stack& mine = stack();
  const size_t size =
      (static_cast<size_t>(count) * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  if (mine.blocks.empty() || mine.used + size > mine.blocks[mine.block].size) {
    if (!mine.blocks.empty() && mine.used > 0) ++mine.block;
    mine.used = 0;
    if (mine.block == mine.blocks.size()) mine.blocks.emplace_back();
    Block& next = mine.blocks[mine.block];
    if (next.size < size) next = allocate(std::max(size, kSmallestBlock));
  }
  char* taken = mine.blocks[mine.block].memory.get() + mine.used;
  mine.used += size;
  return reinterpret_cast<float*>(taken);
}

}  // namespace edelta::kernels
