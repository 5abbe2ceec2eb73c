// What the store's two ends say to each other.
//
// First each proves that it knows the secret, without telling it: the server sends kGreeting and a
// challenge; the client a challenge of its own and the keyed digest of both; the server the keyed
// digest of both the other way round. Then the client asks, one frame each, and the server answers
// each with one. A frame is its length in 4 bytes and so many bytes:
//   question: what is asked, the key's length in 4 bytes, the key, the value
//   answer:   1 where the key was there or what was asked has been done, else 0; the value
// Numbers are little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "dist/secret.h"

namespace edelta::dist {

inline constexpr std::array<char, 8> kGreeting{'e', 'd', 'e', 'l', 't', 'a', '0', '1'};
// What the ranks tell each other through the store is short; this bounds what one can ask for.
inline constexpr uint32_t kLongestFrame = 4U << 20;

enum class Question : uint8_t { set, get, add, erase, count };

inline Digest client_proof(std::string_view secret, const Digest& server, const Digest& client) {
  std::string message = "edelta client";
  message.append(reinterpret_cast<const char*>(server.data()), server.size());
  message.append(reinterpret_cast<const char*>(client.data()), client.size());
  return keyed_digest(secret, message);
}

inline Digest server_proof(std::string_view secret, const Digest& server, const Digest& client) {
  std::string message = "edelta server";
  message.append(reinterpret_cast<const char*>(client.data()), client.size());
  message.append(reinterpret_cast<const char*>(server.data()), server.size());
  return keyed_digest(secret, message);
}

inline void append_number(std::string& text, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(number >> shift & 0xFF);
}

inline uint32_t number_at(const char* bytes) {
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) {
    number |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return number;
}

}  // namespace edelta::dist
