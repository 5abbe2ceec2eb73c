#include "edelta/infer/generator.h"

#include "edelta/base/error.h"
#include "edelta/models/registry.h"
#include "expect_error.h"
#include "infer/token_models.h"

namespace edelta::infer {
namespace {

// What every sample says, sample by sample.
std::vector<std::vector<int32_t>> generate(const std::shared_ptr<models::Model>& model,
                                           const GeneratorOptions& options, int64_t prompt,
                                           int64_t count) {
  Generator generator(model, options);
  generator.start(random_tokens(prompt, model->config().vocab_size, 9));
  std::vector<std::vector<int32_t>> said(generator.samples());
  for (int64_t i = 0; i < count; ++i) {
    const auto tokens = generator.next();
    for (size_t s = 0; s < said.size(); ++s) said[s].push_back(tokens[s]);
  }
  return said;
}

// Past the block size too, and from prompts up to and beyond it.
TEST(Generator, GreedyTokensDoNotDependOnTheWay) {
  for (const auto& architecture : models::architectures()) {
    SCOPED_TRACE(architecture.name);
    const auto model = random_model({{"model", architecture.name}});
    for (const int64_t prompt : {1, 24, 40}) {
      GeneratorOptions options{.sampling = {.temperature = 0}, .samples = 2};
      const auto cached = generate(model, options, prompt, 100);
      options.way = Way::recompute;
      EXPECT_EQ(cached, generate(model, options, prompt, 100));
      EXPECT_EQ(cached[0], cached[1]);
    }
  }
}

TEST(Generator, ASampleDependsOnSeedAndNumberAlone) {
  const auto model = random_model({{"model", "edelta"}});
  const auto three = generate(model, {.samples = 3}, 4, 60);
  const auto one = generate(model, {.samples = 1}, 4, 60);
  EXPECT_EQ(three[0], one[0]);
  EXPECT_NE(three[0], three[1]);
  EXPECT_EQ(three, generate(model, {.samples = 3}, 4, 60));
  EXPECT_NE(one, generate(model, {.samples = 1, .seed = 43}, 4, 60));
}

TEST(Generator, NeedsAPrompt) {
  Generator generator(random_model({{"model", "gpt"}}), {});
  test::expect_error<InputError>([&] { generator.start({}); }, "prompt");
}

// The smallest window there is.
TEST(Generator, ABlockOfOnePosition) {
  const auto model = random_model({{"model", "gpt"}, {"block_size", 1}});
  EXPECT_EQ(generate(model, {}, 3, 10)[0].size(), 10U);
}

}  // namespace
}  // namespace edelta::infer
