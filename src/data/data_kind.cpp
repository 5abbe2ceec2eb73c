#include "data/data_kind.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/input_file.h"
#include "data/dataset_files.h"
#include "edelta/base/error.h"
#include "edelta/data/puzzle_data.h"
#include "edelta/data/tokens.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;

std::optional<DataKind> kind_of(const fs::path& folder) {
  if (is_token_folder(folder)) return DataKind::text;
  if (is_puzzle_folder(folder)) return DataKind::puzzles;
  if (base::is_there(folder / kTrainInputs)) return DataKind::sequences;
  return std::nullopt;
}

std::string described(DataKind kind) {
  switch (kind) {
    case DataKind::sequences:
      return "sequences of vectors (train_x.npy …, as edelta data makes them)";
    case DataKind::text:
      return "text (train.bin and val.bin, as edelta text makes them)";
    case DataKind::puzzles:
      return "puzzles (train/ and test/, as edelta puzzles makes them; for --model trm)";
  }
  return "";
}

}  // namespace

void require_kind(const fs::path& folder, DataKind wanted) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw InputError(fmt::format("{}: there is no such folder", folder.string()));
  }
  const std::optional<DataKind> found = kind_of(folder);
  if (found == wanted) return;
  throw InputError(fmt::format("{}: it has {}; asked for is a folder of {}", folder.string(),
                               found ? described(*found) : "no data that could be trained on",
                               described(wanted)));
}

}  // namespace edelta::data
