#include "edelta/models/model_file.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "temporary_folder.h"

namespace edelta::models {
namespace {

ModelConfig small(const std::string& model) {
  ModelConfig config;
  config.model = model;
  config.n_layer = 1;
  config.n_embd = 16;
  config.n_head = 2;
  config.block_size = 6;
  config.input_dim = 3;
  return config;
}

TEST(ModelFile, SavedAndLoadedModelsAreTheSame) {
  const test::TemporaryFolder folder;
  for (const std::string name : {"gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"}) {
    auto model = make_model(small(name), 7);
    save_model(folder.path() / name, *model);
    const LoadedModel loaded = load_model(folder.path() / name);
    EXPECT_TRUE(loaded.notices.empty());
    const auto x = torch::randn({2, 5, 3});
    EXPECT_TRUE(torch::equal(model->predict(x), loaded.model->predict(x))) << name;
  }
}

TEST(ModelFile, PublishedNamesAreAccepted) {
  auto source = make_model(small("edelta"), 1);
  base::TensorMap published;
  for (const auto& [name, value] : parameters_of(*source)) published.emplace("core." + name, value);
  published["core.transformer.wte.weight"] = torch::zeros({1, 16});
  published["core.transformer.wpe.weight"] = torch::zeros({6, 16});
  auto target = make_model(small("edelta"), 2);
  const auto notices = load_parameters(*target, published, "file");
  EXPECT_EQ(notices.size(), 2);
  const auto x = torch::randn({2, 5, 3});
  EXPECT_TRUE(torch::equal(source->predict(x), target->predict(x)));
}

TEST(ModelFile, WrongParametersAreRefusedAndChangeNothing) {
  auto model = make_model(small("gpt"), 1);
  const auto x = torch::randn({2, 5, 3});
  const auto before = model->predict(x);
  const base::TensorMap own = parameters_of(*make_model(small("gpt"), 2));
  const auto refuse = [&](base::TensorMap parameters, const std::string& named) {
    try {
      load_parameters(*model, parameters, "file");
      FAIL() << named;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  };
  base::TensorMap missing = own;
  missing.erase("pos_emb");
  refuse(missing, "pos_emb");
  base::TensorMap unknown = own;
  unknown["surprise"] = torch::zeros({1});
  refuse(unknown, "surprise");
  base::TensorMap misshapen = own;
  misshapen["pos_emb"] = torch::zeros({1, 7, 16});
  refuse(misshapen, "[1, 7, 16]");
  EXPECT_TRUE(torch::equal(model->predict(x), before));
}

}  // namespace
}  // namespace edelta::models
