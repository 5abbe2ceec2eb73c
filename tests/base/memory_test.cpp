#include "edelta/base/memory.h"

#include <gtest/gtest.h>

#include "edelta/torch.h"

namespace edelta::base {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int64_t kMegabyte = int64_t{1} << 20;

torch::Tensor filled(int64_t megabytes) {
  return torch::ones({megabytes * kMegabyte / int64_t{sizeof(float)}});
}

TEST(TensorMemory, ReusesLargeBlocks) {
  reuse_tensor_memory();
  const void* first = filled(8).data_ptr();
  const torch::Tensor second = filled(8);
  EXPECT_EQ(second.data_ptr(), first);
  EXPECT_NE(filled(8).data_ptr(), first) << "a block was given out twice";
}

TEST(TensorMemory, KeepsLittleMoreThanWasUsedAtOnce) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer keeps freed memory for a while";
  if (!resident_memory()) GTEST_SKIP() << "the system does not tell";
  reuse_tensor_memory();
  release_tensor_memory();
  const int64_t before = *resident_memory();
  for (int64_t megabytes = 2; megabytes <= 60; megabytes += 2) filled(megabytes);  // 930 in all
  EXPECT_LT(*resident_memory() - before, 100 * kMegabyte);
  release_tensor_memory();
  EXPECT_LT(*resident_memory() - before, 20 * kMegabyte);
}

TEST(TensorMemory, TakesLittleMoreThanTheTensorsBytes) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer keeps freed memory for a while";
  if (!resident_memory()) GTEST_SKIP() << "the system does not tell";
  reuse_tensor_memory();
  release_tensor_memory();
  const int64_t before = *resident_memory();
  std::vector<torch::Tensor> tensors;
  // A large page each, 100 MiB in all. Two each would be 200; malloc's own notes between the blocks
  // may lie in some that earlier tensors have left.
  for (int i = 0; i < 50; ++i) tensors.push_back(filled(2));
  EXPECT_LT(*resident_memory() - before, 150 * kMegabyte);
}

TEST(TensorMemory, ThePeakIsThatSinceTheReset) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer keeps freed memory for a while";
  if (!reset_peak_resident_memory()) GTEST_SKIP() << "the system does not tell";
  reuse_tensor_memory();
  release_tensor_memory();
  const int64_t before = *resident_memory();
  filled(64);
  release_tensor_memory();
  EXPECT_GE(*peak_resident_memory() - before, 60 * kMegabyte);
  ASSERT_TRUE(reset_peak_resident_memory());
  EXPECT_LT(*peak_resident_memory() - before, 30 * kMegabyte);
}

TEST(TensorMemory, EmptyTensorsNeedNone) {
  reuse_tensor_memory();
  EXPECT_EQ(torch::empty({0, 3}).numel(), 0);
  EXPECT_EQ(torch::empty({0}).resize_({5}).fill_(2).sum().item<float>(), 10);
}

}  // namespace
}  // namespace edelta::base
