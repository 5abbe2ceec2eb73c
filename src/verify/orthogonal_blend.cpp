#include "verify/orthogonal_blend.h"

#include <ATen/CPUGeneratorImpl.h>

namespace edelta::verify {

std::shared_ptr<geometry::Generator> started_generator(int64_t streams) {
  constexpr int64_t kHidden = 32;
  constexpr double kGateBias = 4, kWeightDeviation = 0.02;
  auto generator = geometry::make_net_generator(
      {.width = kPooledWidth, .streams = streams, .hidden = kHidden, .init_gate_bias = kGateBias});
  generator->to(torch::kFloat64);
  {
    const torch::NoGradGuard no_grad;
    at::Generator random = at::make_generator<at::CPUGeneratorImpl>(streams);
    for (torch::Tensor& parameter : generator->parameters()) {
      if (parameter.dim() < 2) {
        parameter.zero_();
      } else {
        parameter.normal_(0, kWeightDeviation, random);
      }
    }
  }
  generator->initialise();
  return generator;
}

}  // namespace edelta::verify
