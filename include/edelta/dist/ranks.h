// The processes that compute one thing together: each is a rank.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace edelta::dist {

// A sum that is under way.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void wait() = 0;
};

// What the ranks do together, every one of them in the same order. A rank that ends, or does not
// come within the time limit, is a Failure for all others that names it.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int64_t rank() const = 0;  // from 0
  virtual int64_t count() const = 0;
  bool first() const { return rank() == 0; }

  // The sum over all ranks, in place, of a contiguous tensor that is left alone until the wait is
  // over. Its bits depend on the number of ranks, and are the same on all of them.
  virtual std::unique_ptr<Pending> begin_sum(const torch::Tensor& tensor) = 0;
  void sum(const torch::Tensor& tensor) { begin_sum(tensor)->wait(); }
  // The same, added in a balanced tree: (0 + 1) + (2 + 3) …; the ranks are a power of two.
  virtual void tree_sum(const torch::Tensor& tensor) = 0;
  // The first rank's tensor, in place.
  virtual void broadcast(const torch::Tensor& tensor) = 0;

  // Where a rank runs, for messages: "rank 2 on HOST".
  virtual std::string name_of(int64_t rank) const = 0;
  // Tells the others why this one ends before the work is done.
  virtual void leave(const std::string& reason) = 0;
};

// One process: there is nobody to wait for.
Ranks& alone();

// Every rank's text, by rank.
std::vector<std::string> gather_texts(Ranks& ranks, const std::string& own);
// The first rank's text.
std::string first_text(Ranks& ranks, const std::string& own);
// The largest of the ranks' numbers.
int64_t largest(Ranks& ranks, int64_t own);

}  // namespace edelta::dist
