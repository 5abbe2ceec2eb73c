// Which kind of data a folder holds, told by the files it has.
#pragma once

#include <filesystem>

namespace edelta::data {

enum class DataKind { sequences, text, puzzles };

// InputError that names what is there instead, or the commands that make such folders.
void require_kind(const std::filesystem::path& folder, DataKind wanted);

}  // namespace edelta::data
