#include "reproduce/suite_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_folder.h"
#include "base/json.h"
#include "data/text_info.h"
#include "data/token_files.h"
#include "edelta/base/error.h"
#include "edelta/data/tokens.h"

namespace edelta::reproduce {
namespace {

data::TextInfo text_info(const SuiteFolder& folder) {
  const std::filesystem::path file = folder.text() / data::kTextFile;
  return data::text_info_from_json(base::read_json(file), file.string());
}

}  // namespace

bool trains_on_text(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const Training* training = step.training();
    return training != nullptr && !training->config.task && !training->config.recursive;
  });
}

void prepare_text(const SuiteFolder& folder, const std::vector<std::filesystem::path>& files,
                  const std::function<void(const data::TextProgress&)>& on_progress) {
  const data::TextOptions options{.tokenizer = "chars"};
  const auto all = data::text_files(files);
  if (!data::is_token_folder(folder.text())) {
    data::write_token_folder(folder.text(), all, options, /*replace=*/false, on_progress);
    return;
  }
  const base::AtomicFolder again(folder.text());  // never committed: it goes away
  const data::TextInfo info = data::write_token_folder(again.path() / "text", all, options,
                                                       /*replace=*/false, on_progress);
  if (info.files == text_info(folder).files) return;
  throw InputError(
      fmt::format("{}: the models there are trained on another text; choose another --out",
                  folder.path().string()));
}

std::string text_size(const SuiteFolder& folder) {
  if (!data::is_token_folder(folder.text())) return "";
  const data::TextInfo info = text_info(folder);
  return fmt::format("{:.1f} MB, {} different characters",
                     static_cast<double>(info.train.bytes + info.val.bytes) / 1e6, info.vocab_size);
}

}  // namespace edelta::reproduce
