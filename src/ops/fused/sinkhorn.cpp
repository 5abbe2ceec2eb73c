#include "kernels/sinkhorn.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

class SinkhornFunction : public Function<SinkhornFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& z, int64_t iterations) {
    Tensor h = torch::empty_like(z, z.options().requires_grad(false));
    kernels::sinkhorn_forward({shape(z), iterations, data(z), data(h)});
    save(context, {z});
    context->saved_data["iterations"] = iterations;
    return h;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor z = saved_variables(context)[0];
    const Tensor dh = gradients[0].contiguous();
    const Tensor dz = torch::empty_like(z);
    kernels::sinkhorn_backward(
        {shape(z), context->saved_data["iterations"].toInt(), data(z), data(dh), data(dz)});
    return {dz, {}};
  }

 private:
  static kernels::TokenOperatorShape shape(const Tensor& z) {
    const int64_t n = z.size(-1);
    return {z.numel() / (n * n), n, n * n};
  }
};

}  // namespace

Tensor sinkhorn(const Tensor& z, int64_t iterations) {
  return SinkhornFunction::apply(z.contiguous(), iterations);
}

}  // namespace edelta::ops::fused
