// Temporary memory of the kernels.
//
// A fresh large allocation costs a page fault for every 4 KiB touched, as much as the work done on
// it. Each thread therefore keeps what it once took and hands it out again, like a stack: a Scratch
// returns on destruction all that was taken through it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace edelta::kernels {

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // `count` floats, uninitialised, aligned to 64 bytes; valid until this object goes.
  float* floats(int64_t count);

 private:
  size_t block_;
  size_t used_;
};

}  // namespace edelta::kernels
