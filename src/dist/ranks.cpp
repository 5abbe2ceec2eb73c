#include "edelta/dist/ranks.h"

#include <algorithm>
#include <cstring>

namespace edelta::dist {
namespace {

using torch::Tensor;

class Done : public Pending {
 public:
  void wait() override {}
};

class Alone : public Ranks {
 public:
  int64_t rank() const override { return 0; }
  int64_t count() const override { return 1; }
  std::unique_ptr<Pending> begin_sum(const Tensor&) override { return std::make_unique<Done>(); }
  void tree_sum(const Tensor&) override {}
  void broadcast(const Tensor&) override {}
  std::string name_of(int64_t) const override { return "this process"; }
  void leave(const std::string&) override {}
};

// Every rank's number, by rank: each adds its own to zeros.
std::vector<int64_t> gather_numbers(Ranks& ranks, int64_t own) {
  const Tensor numbers = torch::zeros({ranks.count()}, torch::kInt64);
  auto* memory = numbers.data_ptr<int64_t>();
  memory[ranks.rank()] = own;
  ranks.sum(numbers);
  return {memory, memory + ranks.count()};
}

}  // namespace

Ranks& alone() {
  static Alone one;
  return one;
}

std::vector<std::string> gather_texts(Ranks& ranks, const std::string& own) {
  const std::vector<int64_t> lengths = gather_numbers(ranks, static_cast<int64_t>(own.size()));
  int64_t total = 0, begin = 0;
  for (int64_t rank = 0; rank < ranks.count(); ++rank) {
    if (rank == ranks.rank()) begin = total;
    total += lengths[static_cast<size_t>(rank)];
  }
  const Tensor bytes = torch::zeros({total}, torch::kUInt8);
  auto* memory = bytes.data_ptr<uint8_t>();
  if (!own.empty()) std::memcpy(memory + begin, own.data(), own.size());
  if (total > 0) ranks.sum(bytes);
  std::vector<std::string> texts;
  for (const int64_t length : lengths) {
    texts.emplace_back(reinterpret_cast<const char*>(memory), static_cast<size_t>(length));
    memory += length;
  }
  return texts;
}

std::string first_text(Ranks& ranks, const std::string& own) {
  return gather_texts(ranks, ranks.first() ? own : std::string()).front();
}

int64_t largest(Ranks& ranks, int64_t own) {
  const std::vector<int64_t> numbers = gather_numbers(ranks, own);
  return *std::max_element(numbers.begin(), numbers.end());
}

}  // namespace edelta::dist
