// Models, tensors and data as files, and what the process computes with: what the package beside
// this library takes from the program, so that both read and write the same.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/atomic_file.h"
#include "base/json.h"
#include "edelta/base/blas.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/base/safetensors.h"
#include "edelta/data/dataset.h"
#include "edelta/models/model_file.h"
#include "edelta/ops/implementation.h"
#include "edelta/train/run_folder.h"
#include "edelta/version.h"
#include "infer/model_source.h"
#include "kernels/cpu.h"
#include "python/arguments.h"
#include "python/registration.h"

namespace edelta::python {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;
using Tensors = c10::Dict<std::string, Tensor>;
using Texts = c10::Dict<std::string, std::string>;

Tensors to_dict(const base::TensorMap& tensors) {
  Tensors dict;
  for (const auto& [name, tensor] : tensors) dict.insert(name, tensor);
  return dict;
}

base::TensorMap to_map(const Tensors& tensors) {
  base::TensorMap map;
  for (const auto& item : tensors) map.emplace(item.key(), item.value());
  return map;
}

Texts to_dict(const base::Metadata& texts) {
  Texts dict;
  for (const auto& [key, text] : texts) dict.insert(key, text);
  return dict;
}

base::Metadata to_map(const Texts& texts) {
  base::Metadata map;
  for (const auto& item : texts) map.emplace(item.key(), item.value());
  return map;
}

models::ModelConfig parse_config(const std::string& json, const std::string& source) {
  return models::model_config_from_json(base::parse_json(json, source), source);
}

// With every key, checked and completed.
std::string model_config(const std::string& json) {
  return to_json(parse_config(json, "configuration")).dump();
}

Tensors initial_parameters(const std::string& config, int64_t seed) {
  const auto model =
      models::make_model(parse_config(config, "configuration"), static_cast<uint64_t>(seed));
  return to_dict(models::parameters_of(*model));
}

// Configuration, parameters, tokenizer ("" where there is none) and notices.
using Loaded = std::tuple<std::string, Tensors, std::string, std::vector<std::string>>;

// The parameters as the file has them: the model's own are float32.
base::TensorMap as_stored(const models::Model& model, const base::TensorMap& file) {
  base::TensorMap found;
  for (const auto& [name, own] : models::parameters_of(model)) {
    const auto stored = file.find(name);
    found.emplace(name, stored != file.end() ? stored->second : file.at("core." + name));
  }
  return found;
}

std::string tokenizer_text(const std::shared_ptr<const data::Tokenizer>& tokenizer) {
  return tokenizer ? tokenizer->to_json().dump() : std::string();
}

Loaded load_run(const fs::path& path, const std::string& weights) {
  const train::RunFolder run(path);
  const auto which = weights == "best" ? train::Which::best : train::Which::last;
  const auto model = load_run_model(run, which);
  return {to_json(model->config()).dump(),
          to_dict(models::parameters_of(*model)),
          tokenizer_text(run.read_tokenizer()),
          {}};
}

Loaded load_model(const std::string& path, const std::string& weights) {
  if (weights != "best" && weights != "last") {
    throw InputError(fmt::format("weights is '{}'; it must be best or last", weights));
  }
  if (!infer::is_exported_model(path)) return load_run(path, weights);
  const infer::ModelSource source = infer::load_exported_model(path);
  const fs::path file =
      fs::is_directory(path) ? fs::path(path) / "model.safetensors" : fs::path(path);
  return {to_json(source.model->config()).dump(),
          to_dict(as_stored(*source.model, base::read_safetensors(file).tensors)),
          tokenizer_text(source.tokenizer), source.notices};
}

// One file, or a folder where the name does not end in .safetensors; as `edelta export` writes it.
void save_model(const std::string& path, const std::string& config_text, const Tensors& parameters,
                const std::string& tokenizer) {
  const auto config = parse_config(config_text, "configuration");
  const base::TensorMap tensors = to_map(parameters);
  // What the program would refuse to read is not written.
  load_parameters(*models::make_model(config), tensors, path);
  const nlohmann::ordered_json json = to_json(config);
  base::Metadata metadata{{"format", "pt"}, {models::kConfigKey, json.dump()}};
  if (!tokenizer.empty()) metadata[infer::kTokenizerKey] = tokenizer;
  const bool is_file = fs::path(path).extension() == ".safetensors";
  if (!is_file) base::make_folder(path);
  base::write_safetensors(is_file ? fs::path(path) : fs::path(path) / "model.safetensors", tensors,
                          metadata);
  if (!is_file) base::write_json(fs::path(path) / "config.json", json);
}

std::tuple<Tensors, Texts> read_safetensors(const std::string& path) {
  const base::TensorFile file = base::read_safetensors(path);
  return {to_dict(file.tensors), to_dict(file.metadata)};
}

void write_safetensors(const std::string& path, const Tensors& tensors, const Texts& metadata) {
  base::write_safetensors(path, to_map(tensors), to_map(metadata));
}

std::vector<Tensor> arrays_of(const data::Dataset& dataset) {
  return {dataset.train_x, dataset.train_y, dataset.val_x, dataset.val_y};
}

data::TaskOptions task_options(const std::string& json) {
  return base::parse_json(json, "task").get<data::TaskOptions>();
}
std::string complete_task(const std::string& json) {
  return nlohmann::json(task_options(json)).dump();
}
std::vector<Tensor> generate_task(const std::string& json) {
  const data::TaskOptions options = task_options(json);
  data::validate(options);
  return arrays_of(data::generate(options));
}
std::vector<Tensor> read_dataset(const std::string& folder) {
  return arrays_of(data::read_dataset(folder));
}

std::string implementation() { return ops::to_string(ops::implementation()); }
void set_implementation(const std::string& name) {
  ops::set_implementation(ops::parse_implementation(name));
}
// Whether the fused kernels run on this processor.
bool has_kernels() { return kernels::isa() != kernels::Isa::none; }
// The file of the BLAS, where it is the reference BLAS.
std::string slow_blas() {
  const base::Blas blas = base::blas_in_use();
  return blas.reference ? blas.library : std::string();
}
// The CPU that OpenBLAS computes as for, and what OPENBLAS_CORETYPE should say instead: both empty
// where that is not much slower.
std::tuple<std::string, std::string> better_blas_core() {
  const base::Blas blas = base::blas_in_use();
  if (!blas.much_older_core) return {};
  return {blas.core, blas.better_core};
}
std::string version() { return std::string(kVersion); }

}  // namespace

TORCH_LIBRARY_FRAGMENT(edelta, library) {
  library.def("version() -> str", &version);
  library.def("implementation() -> str", &implementation);
  library.def("set_implementation(str name) -> ()", &set_implementation);
  library.def("has_kernels() -> bool", &has_kernels);
  library.def("slow_blas() -> str", &slow_blas);
  library.def("better_blas_core() -> (str, str)", &better_blas_core);
  library.def("model_config(str json) -> str", &model_config);
  library.def("initial_parameters(str config, int seed) -> Dict(str, Tensor)", &initial_parameters);
  library.def("load_model(str path, str weights) -> (str, Dict(str, Tensor), str, str[])",
              &load_model);
  library.def("save_model(str path, str config, Dict(str, Tensor) parameters, str tokenizer) -> ()",
              &save_model);
  library.def("read_safetensors(str path) -> (Dict(str, Tensor), Dict(str, str))",
              &read_safetensors);
  library.def(
      "write_safetensors(str path, Dict(str, Tensor) tensors, Dict(str, str) metadata) -> ()",
      &write_safetensors);
  library.def("task_names() -> str[]", &data::task_names);
  library.def("complete_task(str json) -> str", &complete_task);
  library.def("generate_task(str json) -> Tensor[]", &generate_task);
  library.def("read_dataset(str folder) -> Tensor[]", &read_dataset);
}

}  // namespace edelta::python
