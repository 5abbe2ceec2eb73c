// A run's metrics as an event file that TensorBoard reads.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace edelta::train {

// Creates events.out.tfevents.<time>.<host>.<process>.<number> in `folder`, and the folder. Each
// entry is on its way to the disk when add() returns; what cannot be written is a Failure.
class TensorBoardLog {
 public:
  // `first_step` is the first that will be added: 0 for a new run. Readers drop what earlier files
  // of the folder, of a run that was resumed, have from that step on.
  TensorBoardLog(const std::filesystem::path& folder, int64_t first_step);

  // An entry of metrics.jsonl; keys that have no curve are passed over.
  void add(const nlohmann::json& entry);

  const std::filesystem::path& file() const { return path_; }

 private:
  void write_record(std::string_view data);
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace edelta::train
