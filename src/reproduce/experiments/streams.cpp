// Number of streams.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment streams_experiment() {
  std::vector<Variant> variants;
  for (const int n : {2, 4, 8, 16}) {
    variants.push_back(edelta_with("n = " + std::to_string(n), {{"n_streams", n}}));
  }
  return own_study(
      {.name = "streams",
       .title = "Number of streams",
       .claim =
           "The paper uses n = 4 streams and names the O(n³) solve as its limit; the closed form "
           "here has none.",
       .method = "edelta with 2, 4, 8 and 16 streams.",
       .variants = variants});
}

}  // namespace edelta::reproduce
