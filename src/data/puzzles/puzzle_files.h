// The names of the files in a folder of puzzles.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace edelta::data {

inline constexpr const char* kTrainPuzzles = "train";
inline constexpr const char* kTestPuzzles = "test";
inline constexpr const char* kPuzzleInfoFile = "dataset.json";
inline constexpr const char* kIdentifiersFile = "identifiers.json";
inline constexpr const char* kTestPuzzlesFile = "test_puzzles.json";
// Ours: what was asked for. Other programs do not look at it.
inline constexpr const char* kPuzzleOptionsFile = "puzzles.json";
// The one set that builders write, and its arrays.
inline constexpr const char* kWholeSet = "all";

inline std::string puzzle_array_file(const std::string& set, const std::string& array) {
  return set + "__" + array + ".npy";
}

// What --force may replace at the top of such a folder.
inline const std::set<std::string>& puzzle_folder_names() {
  static const std::set<std::string> names{kTrainPuzzles, kTestPuzzles, kIdentifiersFile,
                                           kTestPuzzlesFile, kPuzzleOptionsFile};
  return names;
}

// What read_puzzle_data() and the votes on ARC read, by their paths in the folder; the last two may
// be absent. InputError where a dataset.json is malformed.
std::set<std::string> puzzle_files(const std::filesystem::path& folder);

// InputError where the folder is there and not empty, unless `replace`: then where it holds
// anything that no builder writes, also within train and test.
void require_free_puzzle_folder(const std::filesystem::path& folder, bool replace);

}  // namespace edelta::data
