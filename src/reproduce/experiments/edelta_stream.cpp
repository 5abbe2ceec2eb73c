// edelta with routed streams.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment edelta_stream_experiment() {
  std::vector<Variant> variants;
  for (const char* model : {"gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"}) {
    variants.push_back({.label = model, .model = model});
  }
  return own_study(
      {.name = "edelta-stream",
       .title = "edelta with routed streams",
       .claim = "",
       .method =
           "edelta-stream, the same operator with routed streams, at matched parameters beside the "
           "others.",
       .variants = variants});
}

}  // namespace edelta::reproduce
