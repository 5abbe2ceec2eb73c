#include "base/suggest.h"

#include <algorithm>
#include <cstddef>

namespace edelta::base {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// Damerau and Levenshtein's distance in which no piece is edited twice: row by row, and a swap
// needs the row before the last.
std::size_t slips(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

// The only candidate that begins with the word. One or two letters say too little.
std::string completed(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kShortest = 3;
  if (word.size() < kShortest) return "";
  const auto begins = [&](const std::string& candidate) {
    return lower(candidate).starts_with(word);
  };
  const auto found = std::find_if(candidates.begin(), candidates.end(), begins);
  if (found == candidates.end()) return "";
  return std::any_of(found + 1, candidates.end(), begins) ? "" : *found;
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kMost = 3;
  const std::string wanted = lower(word);
  std::size_t allowed = std::clamp<std::size_t>(wanted.size() / 3, 1, kMost);
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::string known = lower(candidate);
    // Words as different in length need no closer look, however long they are.
    const std::size_t shorter = std::min(wanted.size(), known.size());
    const std::size_t longer = std::max(wanted.size(), known.size());
    if (longer - shorter > allowed) continue;
    const std::size_t distance = slips(wanted, known);
    // Of a letter or two, something has to be right.
    if (distance > allowed || distance >= longer) continue;
    best = candidate;
    if (distance == 0) break;
    allowed = distance - 1;
  }
  return best.empty() ? completed(wanted, candidates) : best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = closest(word, candidates);
  return near.empty() ? near : " (did you mean '" + near + "'?)";
}

}  // namespace edelta::base
