#include "kernels/embedding.h"

#include <algorithm>
#include <numeric>

#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

// The tokens by their word, those of one word as they come.
std::vector<int64_t> order_of_words(const Tensor& token) {
  const int64_t* word = token.data_ptr<int64_t>();
  std::vector<int64_t> order(token.numel());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [=](int64_t a, int64_t b) { return word[a] < word[b]; });
  return order;
}

// Returns y, and passes `words` on.
class EmbeddingFunction : public Function<EmbeddingFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& token, const Tensor& words,
                               const Tensor& positions, bool keep) {
    const int64_t width = words.size(1);
    Tensor y =
        torch::empty({token.size(0), token.size(1), width}, words.options().requires_grad(false));
    kernels::embedding_forward({.tokens = token.numel(),
                                .length = token.size(1),
                                .width = width,
                                .token = token.data_ptr<int64_t>(),
                                .words = data(words),
                                .positions = data(positions),
                                .y = data(y)});
    if (keep) {
      save(context, {token, words, positions});
      context->set_materialize_grads(false);
    }
    return {y, words};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    Tensor dpositions = gradient_of(context, saved, 2);
    if (dpositions.defined()) dpositions.zero_();
    Tensor dwords;
    if (saved[1].requires_grad() && gradients[1].defined()) {
      dwords = own(gradients[1]);
    } else if (dwords = gradient_of(context, saved, 1); dwords.defined()) {
      dwords.zero_();
    }
    if (gradients[0].defined()) {
      const Tensor& token = saved[0];
      const Tensor dy = gradients[0].contiguous();
      const std::vector<int64_t> order = order_of_words(token);
      kernels::embedding_backward({.tokens = token.numel(),
                                   .length = token.size(1),
                                   .width = saved[1].size(1),
                                   .token = token.data_ptr<int64_t>(),
                                   .order = order.data(),
                                   .dy = data(dy),
                                   .dwords = data(dwords),
                                   .dpositions = data(dpositions)});
    }
    return {{}, dwords, dpositions, {}};
  }
};

}  // namespace

WithInput embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  const variable_list both =
      EmbeddingFunction::apply(token.contiguous(), words.contiguous(), positions.contiguous(),
                               will_differentiate({words, positions}));
  return {both[0], both[1]};
}

}  // namespace edelta::ops::fused
