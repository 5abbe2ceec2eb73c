// A model on tokens that goes on with a text, byte by byte: here an untrained one, so that the
// example needs no files. With a trained one, load it by models::load_model(folder).
#include <edelta/infer/generator.h>
#include <edelta/models/architecture_options.h>
#include <edelta/models/model.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  edelta::models::ModelConfig config;
  config.model = "edelta";
  config.head = edelta::models::Head::token;
  config.vocab_size = 256;
  config.block_size = 64;
  // An operator that looks at the whole sequence would look at what is yet to be generated.
  config.options.get<edelta::models::PoolOptions>().pool = edelta::ops::Pool::prefix;
  const auto model = edelta::models::make_model(config);

  const std::string text = "In the beginning";
  edelta::infer::Generator generator(
      model, {.sampling = {.temperature = 0.8, .top_k = 40}, .samples = 2, .seed = 7});
  generator.start(std::vector<int32_t>(text.begin(), text.end()));
  // Past the block size of 64 too: the generator then goes on with the latter half.
  for (int i = 0; i < 100; ++i) {
    for (const int32_t token : generator.next()) std::printf("%d ", token);
    std::printf("\n");
  }
}
