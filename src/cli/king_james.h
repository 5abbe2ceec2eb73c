// The text for language models where none is given.
#pragma once

#include <filesystem>

namespace edelta::cli {

inline constexpr const char* kKingJames =
    "the King James Version of the Bible, as the package bible-kjv prints it";

// Writes it to `file`. InputError where the program that prints it is not there.
void write_king_james(const std::filesystem::path& file);

}  // namespace edelta::cli
