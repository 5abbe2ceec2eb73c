#include "edelta/train/gradient_exchange.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "edelta/base/error.h"

namespace edelta::train {

using torch::Tensor;

namespace {

// Floats of a bucket: large enough for the network's rate to count and not its latency, small
// enough that most of a model's are under way before the backward pass ends.
constexpr int64_t kBucket = 1 << 20;

bool power_of_two(int64_t number) { return std::has_single_bit(static_cast<uint64_t>(number)); }

}  // namespace

void require_divisible(int64_t rows, int64_t parts, int64_t ranks, Summation summation) {
  if (summation == Summation::tree) {
    if (power_of_two(parts) && power_of_two(ranks) && parts % ranks == 0) return;
    throw InputError(fmt::format(
        "accumulate is {}; with --deterministic-reduction it must be a power of two that the {} "
        "ranks, a power of two as well, can divide",
        parts, ranks));
  }
  if (parts % ranks == 0 || rows % ranks == 0) return;
  throw InputError(fmt::format("batch is {} and accumulate {}; {} ranks can divide neither equally",
                               rows, parts, ranks));
}

void require_divisible(const TrainConfig& config, int64_t ranks, Summation summation) {
  if (config.recursive && ranks > 1 && summation == Summation::tree) {
    throw InputError(
        "--deterministic-reduction is not for recursive models on several ranks: their batches "
        "have no parts that could be summed in one order");
  }
  require_divisible(config.train.batch, config.train.accumulate, ranks, summation);
}

struct GradientExchange::Buffers {
  Buffers(torch::nn::Module& model, dist::Ranks& its_ranks, Summation its_summation)
      : ranks(its_ranks), summation(its_summation) {
    // The last parameters are the first whose gradients are done.
    std::vector<Tensor> parameters = model.parameters();
    std::reverse(parameters.begin(), parameters.end());
    int64_t total = 0;
    for (const Tensor& parameter : parameters) {
      if (buckets.empty() || buckets.back().end - buckets.back().begin >= kBucket) {
        buckets.push_back({total, total});
      }
      slots.push_back({parameter, total, buckets.size() - 1});
      total += parameter.numel();
      buckets.back().end = total;
    }
    options = parameters.front().options().requires_grad(false);
    if (overlaps()) flat = torch::empty({total}, options);
    size = total;
  }

  struct Slot {
    Tensor parameter;
    int64_t at;
    size_t bucket;
    bool copied = false, has_gradient = false;
  };
  struct Bucket {
    int64_t begin, end;
    int64_t missing = 0;
    std::unique_ptr<dist::Pending> sum = {};
  };

  bool overlaps() const { return summation == Summation::running && ranks.count() > 1; }

  Tensor part_of(const Tensor& whole, const Slot& slot) const {
    return whole.narrow(0, slot.at, slot.parameter.numel());
  }

  void copy(const Slot& slot, const Tensor& to) const {
    const Tensor& gradient = slot.parameter.grad();
    if (gradient.defined()) {
      part_of(to, slot).copy_(gradient.reshape({-1}));
    } else {
      part_of(to, slot).zero_();
    }
  }

  void reset() {
    armed = false;
    next = 0;
    level_sums.clear();
    for (Bucket& bucket : buckets) {
      bucket.missing = 0;
      bucket.sum.reset();
    }
    for (Slot& slot : slots) {
      slot.copied = slot.has_gradient = false;
      ++buckets[slot.bucket].missing;
    }
  }

  // Buckets go in the same order at every rank, whatever order they are finished in.
  void start_what_is_ready() {
    while (next < buckets.size() && buckets[next].missing == 0) {
      Bucket& bucket = buckets[next++];
      bucket.sum = ranks.begin_sum(flat.narrow(0, bucket.begin, bucket.end - bucket.begin));
    }
  }

  void take(Slot& slot) {
    if (slot.copied) return;
    const torch::NoGradGuard no_grad;
    copy(slot, flat);
    slot.copied = true;
    --buckets[slot.bucket].missing;
    start_what_is_ready();
  }

  // Of two sums of equally many parts, one is made; the parts come in order.
  void add_leaf(Tensor leaf) {
    int64_t level = 0;
    while (!level_sums.empty() && level_sums.back().first == level) {
      leaf = level_sums.back().second.add_(leaf);
      level_sums.pop_back();
      ++level;
    }
    level_sums.emplace_back(level, std::move(leaf));
  }

  void give_back(const Tensor& sums) {
    for (Slot& slot : slots) {
      if (slot.has_gradient) {
        slot.parameter.mutable_grad() = part_of(sums, slot).view(slot.parameter.sizes());
      }
    }
  }

  dist::Ranks& ranks;
  Summation summation;
  std::vector<Slot> slots;
  std::vector<Bucket> buckets;
  torch::TensorOptions options;
  int64_t size = 0;
  Tensor flat;                                         // with several ranks
  bool armed = false;                                  // the backward pass is the last of the step
  size_t next = 0;                                     // the bucket to be exchanged next
  std::vector<std::pair<int64_t, Tensor>> level_sums;  // of 2^level parts each, levels falling
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
};

GradientExchange::GradientExchange(torch::nn::Module& model, dist::Ranks& ranks,
                                   Summation summation)
    : buffers_(std::make_shared<Buffers>(model, ranks, summation)) {
  if (!buffers_->overlaps()) return;
  using torch::autograd::variable_list;
  for (size_t i = 0; i < buffers_->slots.size(); ++i) {
    // The node that writes the parameter's gradient, which lives as long as somebody holds it.
    auto node = torch::autograd::impl::grad_accumulator(buffers_->slots[i].parameter);
    const auto when_written = [weak = std::weak_ptr<Buffers>(buffers_), i](
                                  const variable_list& outputs, const variable_list&) {
      const auto buffers = weak.lock();
      if (buffers && buffers->armed) buffers->take(buffers->slots[i]);
      return outputs;
    };
    node->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(when_written));
    buffers_->accumulators.push_back(std::move(node));
  }
}

GradientExchange::~GradientExchange() = default;

dist::Ranks& GradientExchange::ranks() const { return buffers_->ranks; }

Division GradientExchange::division(int64_t parts) const {
  const int64_t ranks = buffers_->ranks.count();
  if (parts % ranks != 0) return {.first = 0, .count = parts, .rows = true};
  return {.first = buffers_->ranks.rank() * (parts / ranks), .count = parts / ranks};
}

void GradientExchange::start() { buffers_->reset(); }

void GradientExchange::before_backward(bool last) { buffers_->armed = last; }

void GradientExchange::after_backward() {
  Buffers& b = *buffers_;
  b.armed = false;
  for (Buffers::Slot& slot : b.slots) {
    slot.has_gradient = slot.has_gradient || slot.parameter.grad().defined();
  }
  if (b.summation == Summation::running) return;
  const torch::NoGradGuard no_grad;
  const Tensor leaf = torch::empty({b.size}, b.options);
  for (Buffers::Slot& slot : b.slots) {
    b.copy(slot, leaf);
    slot.parameter.mutable_grad() = Tensor();
  }
  b.add_leaf(leaf);
}

void GradientExchange::finish() {
  Buffers& b = *buffers_;
  if (b.summation == Summation::tree) {
    const Tensor sum = b.level_sums.front().second;
    b.level_sums.clear();
    b.ranks.tree_sum(sum);
    return b.give_back(sum);
  }
  if (!b.overlaps()) return;
  for (Buffers::Slot& slot : b.slots) b.take(slot);
  for (Buffers::Bucket& bucket : b.buckets) bucket.sum->wait();
  b.give_back(b.flat);
}

}  // namespace edelta::train
