// What the loss of text or puzzles means, as train and eval print it.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

namespace edelta::cli {

// "perplexity 6.55, 2.71 bits per byte"
inline std::string measures_text(const std::map<std::string, double>& measures) {
  std::string text;
  const auto add = [&](const char* name, const char* pattern) {
    const auto found = measures.find(name);
    if (found == measures.end()) return;
    text += text.empty() ? "" : ", ";
    text += fmt::format(fmt::runtime(pattern), found->second);
  };
  add("perplexity", "perplexity {:.4g}");
  add("bits_per_byte", "{:.4f} bits per byte");
  add("accuracy", "{:.4f} of the cells right");
  add("exact_accuracy", "{:.4f} of the puzzles solved");
  return text;
}

}  // namespace edelta::cli
