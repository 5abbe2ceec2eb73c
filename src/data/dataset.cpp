#include "edelta/data/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/atomic_folder.h"
#include "base/json.h"
#include "base/printable.h"
#include "data/dataset_files.h"
#include "edelta/base/error.h"
#include "edelta/base/npy.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;

std::string shape_text(const torch::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

void check_finite(const torch::Tensor& values, const std::string& source) {
  const torch::Tensor bad = torch::nonzero(torch::isfinite(values).logical_not());
  if (bad.size(0) == 0) return;
  const torch::Tensor index = bad[0];
  torch::Tensor value = values;
  std::vector<std::int64_t> place;
  for (std::int64_t i = 0; i < index.size(0); ++i) {
    place.push_back(index[i].item<std::int64_t>());
    value = value[place.back()];
  }
  throw InputError(fmt::format("{}: the value at [{}] is {}; all must be finite float32 numbers",
                               source, fmt::join(place, ", "), value.item<float>()));
}

torch::Tensor read_sequences(const fs::path& path) {
  return as_sequences(base::read_npy(path), path.string());
}

std::pair<torch::Tensor, torch::Tensor> read_pair(const fs::path& folder,
                                                  const std::string& split) {
  const fs::path x_path = folder / (split + "_x.npy"), y_path = folder / (split + "_y.npy");
  torch::Tensor x = read_sequences(x_path);
  torch::Tensor y = read_sequences(y_path);
  if (x.sizes() != y.sizes()) {
    throw InputError(fmt::format("{} has shape {}, {} has {}; they must be the same",
                                 x_path.string(), shape_text(x), y_path.string(), shape_text(y)));
  }
  return {std::move(x), std::move(y)};
}

// Whether it is a number from 0 to `last`.
bool is_index(const nlohmann::json& json, std::int64_t last) {
  return json.is_number_unsigned() && json.get<std::uint64_t>() <= static_cast<std::uint64_t>(last);
}

// [begin, end], at least one position of `length`.
bool are_positions(const nlohmann::json& json, std::int64_t length) {
  return json.is_array() && json.size() == 2 && is_index(json[0], length - 1) &&
         is_index(json[1], length) && json[0] < json[1];
}

// A list of rows, or {"rows": …, "positions": …}, for validation sequences [N, T, …].
Stratum read_stratum(const std::string& name, const nlohmann::json& json, const torch::Tensor& val,
                     const fs::path& path) {
  const std::int64_t last = val.size(0) - 1, length = val.size(1);
  const bool ranged =
      json.is_object() && json.size() == 2 && json.contains("rows") && json.contains("positions");
  const nlohmann::json& rows = ranged ? json["rows"] : json;
  Stratum stratum{name, {}};
  bool usable = rows.is_array() && !rows.empty();
  for (const nlohmann::json& row : rows) {
    usable = usable && is_index(row, last);
    if (usable) stratum.rows.push_back(row.get<std::int64_t>());
  }
  if (ranged) {
    const nlohmann::json& positions = json["positions"];
    usable = usable && positions.is_array() && positions.size() == rows.size();
    for (const nlohmann::json& each : positions) {
      usable = usable && are_positions(each, length);
      if (usable) {
        stratum.positions.push_back({each[0].get<std::int64_t>(), each[1].get<std::int64_t>()});
      }
    }
  }
  if (!usable) {
    throw InputError(fmt::format(
        "{}: the stratum {} must be a list of rows from 0 to {}, or an object of such rows and, "
        "for each, positions [begin, end] from 0 to {}",
        path.string(), base::printable(name), last, length));
  }
  return stratum;
}

nlohmann::json to_json(const Stratum& stratum) {
  if (stratum.positions.empty()) return stratum.rows;
  nlohmann::json positions = nlohmann::json::array();
  for (const auto& [begin, end] : stratum.positions) positions.push_back({begin, end});
  return {{"rows", stratum.rows}, {"positions", positions}};
}

std::vector<Stratum> read_strata(const fs::path& path, const torch::Tensor& val) {
  std::vector<Stratum> strata;
  std::error_code error;
  if (!fs::exists(path, error)) return strata;
  const nlohmann::json task = base::read_json(path);
  const auto found = task.find("strata");
  if (found == task.end()) return strata;
  if (!found->is_object()) {
    throw InputError(fmt::format("{}: strata must be an object of lists", path.string()));
  }
  for (const auto& [name, stratum] : found->items()) {
    strata.push_back(read_stratum(name, stratum, val, path));
  }
  return strata;
}

}  // namespace

torch::Tensor as_sequences(const torch::Tensor& array, const std::string& source) {
  const torch::Tensor values = array.to(torch::kFloat);
  if ((values.dim() != 2 && values.dim() != 3) || values.numel() == 0) {
    throw InputError(
        fmt::format("{}: the shape must be [N, T, dim] or [N, dim], none of them 0, not {}", source,
                    shape_text(values)));
  }
  check_finite(values, source);
  return values.dim() == 2 ? values.unsqueeze(1) : values;
}

void require_free(const fs::path& folder, bool replace) {
  base::AtomicFolder::check(folder, replace, dataset_files());
}

void write_dataset(const fs::path& folder, const Dataset& dataset, const TaskOptions& options,
                   bool replace) {
  base::AtomicFolder writing(folder);
  base::write_npy(writing.path() / "train_x.npy", dataset.train_x);
  base::write_npy(writing.path() / "train_y.npy", dataset.train_y);
  base::write_npy(writing.path() / "val_x.npy", dataset.val_x);
  base::write_npy(writing.path() / "val_y.npy", dataset.val_y);
  nlohmann::json strata = nlohmann::json::object();
  for (const Stratum& stratum : dataset.val_strata) strata[stratum.name] = to_json(stratum);
  const nlohmann::json task{{"options", options}, {"strata", strata}};
  base::write_text_atomically(writing.path() / kTaskFile, task.dump(1) + "\n");
  writing.commit(replace, dataset_files());
}

Dataset read_dataset(const fs::path& folder) {
  const auto [train_x, train_y] = read_pair(folder, "train");
  const auto [val_x, val_y] = read_pair(folder, "val");
  if (train_x.sizes().slice(1) != val_x.sizes().slice(1)) {
    throw InputError(
        fmt::format("{}: the training sequences have shape {}, the validation sequences {}; "
                    "T and dim must be the same",
                    folder.string(), shape_text(train_x), shape_text(val_x)));
  }
  return {train_x, train_y, val_x, val_y, read_strata(folder / kTaskFile, val_x)};
}

}  // namespace edelta::data
