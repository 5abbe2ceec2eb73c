// What proves that a process belongs to a run's ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace edelta::dist {

using Digest = std::array<uint8_t, 32>;

// EDELTA_SECRET of the environment, else the file edelta/secret in the user's configuration folder,
// which is made where it is not there and is nobody else's to read. InputError where it is.
std::string run_secret();

// HMAC-SHA256.
Digest keyed_digest(std::string_view secret, std::string_view message);
// Takes the same time wherever they differ.
bool same_digest(const Digest& a, const Digest& b);
// Bytes that nobody can guess.
Digest random_bytes();
std::string hexadecimal(const Digest& bytes);

}  // namespace edelta::dist
