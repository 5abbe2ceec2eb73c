// The names of the files in a data folder.
#pragma once

#include <set>
#include <string>

namespace edelta::data {

inline constexpr const char* kTaskFile = "task.json";
inline constexpr const char* kTrainInputs = "train_x.npy";

inline const std::set<std::string>& dataset_files() {
  static const std::set<std::string> names{kTrainInputs, "train_y.npy", "val_x.npy", "val_y.npy",
                                           kTaskFile};
  return names;
}

}  // namespace edelta::data
