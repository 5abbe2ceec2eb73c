#include "edelta/kernels/stream.h"
#include "edelta/kernels/token_operator.h"
#include "ops/autograd.h"
#include "ops/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

kernels::StreamMixShape mix_shape(const Tensor& g, const Tensor& x) {
  const int64_t n = g.size(-1);
  return {x.size(0), x.size(1), g.size(1), n, x.size(2) / n};
}

// The gradient goes to `g_backward`: where it is another operator than `g_forward`, the latter gets
// none (straight-through).
class StreamMixFunction : public Function<StreamMixFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& g_forward, const Tensor& g_backward,
                        const Tensor& x) {
    Tensor y = torch::empty_like(x, x.options().requires_grad(false));
    kernels::stream_mix_forward({mix_shape(g_forward, x), data(x), data(g_forward), data(y)});
    save(context, {g_backward, x});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    const Tensor dg = gradient_memory(saved, 0);
    const Tensor dx = gradient_memory(saved, 1);
    kernels::stream_mix_backward({mix_shape(saved[0], saved[1]), data(saved[1]), data(saved[0]),
                                  data(dy), data(dx), data(dg)});
    return {Tensor(), dg, dx};
  }
};

kernels::StreamShape stream_shape(const Tensor& w, const Tensor& x) {
  const int64_t n = w.size(-1);
  return {w.numel() / n, n, x.size(-1) / n};
}

class StreamAggregateFunction : public Function<StreamAggregateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& w, const Tensor& x) {
    const kernels::StreamShape shape = stream_shape(w, x);
    Tensor a = torch::empty(with_last(x, shape.width), x.options().requires_grad(false));
    kernels::stream_aggregate_forward({shape, data(x), data(w), data(a)});
    save(context, {w, x});
    return a;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor da = gradients[0].contiguous();
    const Tensor dw = gradient_memory(saved, 0);
    const Tensor dx = gradient_memory(saved, 1);
    kernels::stream_aggregate_backward({stream_shape(saved[0], saved[1]), /*accumulate_dx=*/false,
                                        data(saved[1]), data(saved[0]), data(da), data(dx),
                                        data(dw)});
    return {dw, dx};
  }
};

class StreamUpdateFunction : public Function<StreamUpdateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const OptionalTensor& h, const Tensor& x,
                        const Tensor& w, const Tensor& y) {
    Tensor updated = torch::empty_like(x, x.options().requires_grad(false));
    kernels::stream_update_forward({stream_shape(w, x), y.size(-1) != x.size(-1), data(x), data(h),
                                    data(w), data(y), data(updated)});
    save(context, {h, x, w, y});
    return updated;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dupdated = gradients[0].contiguous();
    const bool mixes = saved[0].defined();
    const Tensor dh = mixes ? gradient_memory(saved, 0) : Tensor();
    const Tensor dx = mixes ? gradient_memory(saved, 1) : Tensor();
    const Tensor dw = gradient_memory(saved, 2);
    const Tensor dy = gradient_memory(saved, 3);
    kernels::stream_update_backward({stream_shape(saved[2], saved[1]),
                                     saved[3].size(-1) != saved[1].size(-1), data(saved[1]),
                                     data(saved[0]), data(saved[2]), data(saved[3]), data(dupdated),
                                     data(dx), data(dh), data(dw), data(dy)});
    return {dh, mixes ? dx : dupdated, dw, dy};
  }
};

// Logits [..., n, n] whose n×n blocks are contiguous and evenly spaced, as they lie in the rows of
// a matrix product's output; anything else is copied.
struct Logits {
  explicit Logits(const Tensor& z) : n(z.size(-1)), tokens(z.numel() / (n * n)) {
    flat = z.flatten(0, -3);
    if (flat.stride(-1) != 1 || flat.stride(-2) != n || (tokens > 1 && flat.stride(0) < n * n)) {
      flat = flat.contiguous();
    }
    stride = tokens > 1 ? flat.stride(0) : n * n;
  }
  kernels::TokenOperatorShape shape() const { return {tokens, n, stride}; }

  int64_t n, tokens, stride;
  Tensor flat;
};

class SinkhornFunction : public Function<SinkhornFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& z, int64_t iterations) {
    const Logits logits(z);
    Tensor h = torch::empty(z.sizes(), z.options().requires_grad(false));
    kernels::sinkhorn_forward({logits.shape(), iterations, data(logits.flat), data(h)});
    save(context, {z});
    context->saved_data["iterations"] = iterations;
    return h;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    // dz has the layout of z's contiguous copy, so both are read from one.
    const Tensor z = context->get_saved_variables()[0].contiguous();
    const Tensor dh = gradients[0].contiguous();
    const Tensor dz = torch::empty_like(z);
    kernels::sinkhorn_backward({Logits(z).shape(), context->saved_data["iterations"].toInt(),
                                data(z), data(dh), data(dz)});
    return {dz, {}};
  }
};

class IterativeCayleyFunction : public Function<IterativeCayleyFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& z, double alpha,
                        int64_t iterations) {
    const Logits logits(z);
    Tensor h = torch::empty(z.sizes(), z.options().requires_grad(false));
    kernels::iterative_cayley_forward(
        {logits.shape(), iterations, static_cast<float>(alpha), data(logits.flat), data(h)});
    save(context, {z});
    context->saved_data["alpha"] = alpha;
    context->saved_data["iterations"] = iterations;
    return h;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor z = context->get_saved_variables()[0].contiguous();
    const Tensor dh = gradients[0].contiguous();
    const Tensor dz = torch::empty_like(z);
    kernels::iterative_cayley_backward(
        {Logits(z).shape(), context->saved_data["iterations"].toInt(),
         static_cast<float>(context->saved_data["alpha"].toDouble()), data(z), data(dh), data(dz)});
    return {dz, {}, {}};
  }
};

class MixerWeightsFunction : public Function<MixerWeightsFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& z_pre,
                               const Tensor& z_post) {
    const Logits pre_logits(z_pre);
    const auto sizes = z_pre.sizes().slice(0, z_pre.dim() - 1);
    Tensor pre = torch::empty(sizes, z_pre.options().requires_grad(false));
    Tensor post = torch::empty_like(pre);
    kernels::mixer_weights_forward({pre_logits.shape(), data(pre_logits.flat),
                                    data(Logits(z_post).flat), data(pre), data(post)});
    save(context, {z_pre, z_post});
    return {pre, post};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor z_pre = saved[0].contiguous();
    const Tensor z_post = saved[1].contiguous();
    const Tensor dpre = gradients[0].contiguous();
    const Tensor dpost = gradients[1].contiguous();
    const Tensor dz_pre = torch::empty_like(z_pre);
    const Tensor dz_post = torch::empty_like(z_post);
    kernels::mixer_weights_backward({Logits(z_pre).shape(), data(z_pre), data(z_post), data(dpre),
                                     data(dpost), data(dz_pre), data(dz_post)});
    return {dz_pre, dz_post};
  }
};

}  // namespace

Tensor stream_mix(const Tensor& g_forward, const Tensor& g_backward, const Tensor& x) {
  return StreamMixFunction::apply(g_forward.detach().contiguous(), g_backward.contiguous(),
                                  x.contiguous());
}

Tensor stream_aggregate(const Tensor& w, const Tensor& x) {
  return StreamAggregateFunction::apply(w.contiguous(), x.contiguous());
}

Tensor stream_update(const Tensor& h, const Tensor& x, const Tensor& w, const Tensor& y) {
  return StreamUpdateFunction::apply(optional(h), x.contiguous(), w.contiguous(), y.contiguous());
}

Tensor sinkhorn(const Tensor& z, int64_t iterations) {
  return SinkhornFunction::apply(z, iterations);
}

Tensor iterative_cayley(const Tensor& z, double alpha, int64_t iterations) {
  return IterativeCayleyFunction::apply(z, alpha, iterations);
}

std::pair<Tensor, Tensor> mixer_weights(const Tensor& z_pre, const Tensor& z_post) {
  const variable_list weights = MixerWeightsFunction::apply(z_pre, z_post);
  return {weights[0], weights[1]};
}

}  // namespace edelta::ops::fused
