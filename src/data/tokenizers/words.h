// The pieces within which byte pairs merge: those of GPT-2,
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// \s is Unicode's White_Space. A byte that is no part of a character is neither letter, number nor
// space.
#pragma once

#include <cstddef>
#include <string_view>

namespace edelta::data {

// The length of the word that `text`, which must not be empty, begins with.
std::size_t first_word(std::string_view text);

// The last place in `text` where a word ends whatever comes before and after; 0 if there is none.
std::size_t last_word_end(std::string_view text);

}  // namespace edelta::data
