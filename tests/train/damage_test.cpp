// Whatever happens to a file of a run, nobody gets other numbers: it is noticed, or it does not
// matter.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "edelta/base/error.h"
#include "edelta/models/model_file.h"
#include "edelta/train/trainer.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

void make_run(const fs::path& folder, uint64_t seed, bool stops) {
  const RunFolder run(folder);
  run.create(train_config_from_json(
      {{"task", {{"task", "stability"}, {"dim", 2}, {"steps", 3}, {"train", 4}, {"val", 2}}},
       {"model", {{"model", "gpt"}, {"n_layer", 1}, {"n_embd", 4}, {"n_head", 1}}},
       {"train",
        {{"iterations", 6},
         {"batch", 2},
         {"seed", seed},
         {"log_interval", 1},
         {"eval_interval", 2},
         {"checkpoint_interval", 2}}}},
      "test"));
  int64_t done = 0;
  train(run, {.on_step = [&](const StepReport& report) { done = report.iteration; },
              .stop_signal = [&] { return stops && done == 4 ? 2 : 0; }});
}

// Everything that commands read from a run, as text that shows every bit; the wall clock is left
// out.
using Reading = std::function<std::string(const RunFolder&)>;

std::string weights(const RunFolder& run, Which which) {
  std::string text;
  for (const auto& [name, tensor] : models::parameters_of(*load_run_model(run, which))) {
    text += name + std::string(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  }
  return text;
}

std::string metrics(const RunFolder& run) {
  std::string text;
  for (nlohmann::json entry : run.read_metrics()) {
    entry.erase("tokens_per_second");
    entry.erase("sum");
    text += entry.dump();
  }
  return text;
}

std::string result(nlohmann::json result) {
  for (const char* key : {"seconds", "checksum", "metrics_sum"}) result.erase(key);
  return result.dump();
}

const std::vector<std::pair<std::string, Reading>>& readings() {
  static const std::vector<std::pair<std::string, Reading>> all{
      {"configuration", [](const RunFolder& run) { return to_json(run.read_config()).dump(); }},
      {"best weights", [](const RunFolder& run) { return weights(run, Which::best); }},
      {"last weights", [](const RunFolder& run) { return weights(run, Which::last); }},
      {"metrics", metrics},
      {"training", [](const RunFolder& run) {
         const std::string text = result(train(run).result);
         return text + metrics(run) + weights(run, Which::last) + weights(run, Which::best);
       }}};
  return all;
}

class Damage : public testing::TestWithParam<bool> {
 protected:
  Damage() {
    make_run(folder_ / "run", 1, GetParam());
    make_run(folder_ / "other", 2, GetParam());
    for (const auto& [name, read] : readings()) expected_.push_back(read_copy(read));
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "run")) {
      if (entry.is_regular_file()) files_.push_back(fs::relative(entry, folder_ / "run"));
    }
  }

  // Training changes the folder: every reading gets its own.
  std::string read_copy(const Reading& read, const fs::path& file = {},
                        const std::function<void(const fs::path&)>& damage = {}) {
    const fs::path copy = folder_ / "copy";
    fs::remove_all(copy);
    fs::copy(folder_ / "run", copy, fs::copy_options::recursive);
    if (damage) damage(copy / file);
    return read(RunFolder(copy));
  }

  // True if any reading noticed it.
  bool check(const fs::path& file, const std::string& what,
             const std::function<void(const fs::path&)>& damage) {
    bool noticed = false;
    for (size_t i = 0; i < readings().size(); ++i) {
      try {
        EXPECT_EQ(read_copy(readings()[i].second, file, damage) == expected_[i], true)
            << file << ", " << what << ": other " << readings()[i].first;
      } catch (const InputError& error) {
        noticed = true;
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      } catch (const Failure& error) {
        // Where something that is no file stands in the way of one that is to be written.
        EXPECT_TRUE(what.starts_with("a ")) << file << ", " << what << ": " << error.what();
      } catch (const std::exception& error) {
        ADD_FAILURE() << file << ", " << what << ", " << readings()[i].first
                      << ": no InputError but: " << error.what();
      }
    }
    return noticed;
  }

  test::TemporaryFolder folder_;
  std::vector<std::string> expected_;
  std::vector<fs::path> files_;
};

TEST_P(Damage, OfAByteIsNoticedOrDoesNotMatter) {
  std::mt19937 random(1);
  for (const fs::path& file : files_) {
    const std::string bytes = bytes_of(folder_ / "run" / file);
    int noticed = 0;
    constexpr int kTrials = 24;
    for (int trial = 0; trial < kTrials; ++trial) {
      const size_t at = random() % bytes.size();
      const int bit = 1 << random() % 8;
      const auto flip = [&](const fs::path& damaged) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ bit);
        write(damaged, changed);
      };
      noticed += check(file, fmt::format("byte {} ^ {}", at, bit), flip);
    }
    // The lock is no content; result.json matters where the run has ended.
    if (file != "lock") {
      EXPECT_GT(noticed, kTrials / 2) << file;
    }
  }
}

TEST_P(Damage, OfAWholeFileIsNoticedOrDoesNotMatter) {
  for (const fs::path& file : files_) {
    const std::string bytes = bytes_of(folder_ / "run" / file);
    const auto replace = [&](const std::string& with) {
      return [with](const fs::path& damaged) { write(damaged, with); };
    };
    check(file, "emptied", replace(""));
    for (const size_t length : {size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
      check(file, fmt::format("cut to {}", length), replace(bytes.substr(0, length)));
    }
    check(file, "longer", replace(bytes + "x"));
    check(file, "zeros", replace(std::string(bytes.size(), '\0')));
    check(file, "missing", [](const fs::path& damaged) { fs::remove(damaged); });
    check(file, "a folder", [](const fs::path& damaged) {
      fs::remove(damaged);
      fs::create_directory(damaged);
    });
    check(file, "a link to itself", [](const fs::path& damaged) {
      fs::remove(damaged);
      fs::create_symlink(damaged, damaged);
    });
    check(file, "another run's", replace(bytes_of(folder_ / "other" / file)));
  }
}

TEST_P(Damage, OfWeightsThatAreNotNumbersIsNoticed) {
  const fs::path best = folder_ / "run/best/model.safetensors";
  auto file = base::read_safetensors(best);
  for (auto& [name, tensor] : file.tensors) tensor.fill_(NAN);
  base::write_safetensors(best, file.tensors, file.metadata);
  EXPECT_THROW(load_run_model(RunFolder(folder_ / "run"), Which::best), InputError);
}

INSTANTIATE_TEST_SUITE_P(Runs, Damage, testing::Bool(),
                         [](const auto& info) { return info.param ? "Stopped" : "Finished"; });

}  // namespace
}  // namespace edelta::train
