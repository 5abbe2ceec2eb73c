// How the ranks of a run find each other.
#pragma once

#include "edelta/torch.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "dist/launch.h"
#include "dist/store_server.h"

namespace edelta::dist {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

struct Meeting {
  std::unique_ptr<StoreServer> server = {};  // at the first rank, where it keeps the store
  std::shared_ptr<void> folder = {};         // with --store: what the first rank removes at the end
  bool grows = false;                        // the store keeps all that was ever put into it
  StorePointer store = {};                   // of the thread that computes, and of Gloo
  StorePointer watch_store = {};             // of the thread that watches
  std::string own_address = {};              // to listen on; empty: what the host's name says
  std::vector<std::string> hosts = {};       // by rank
};

// Returns when all ranks are there. InputError where the first one cannot be found or refuses this
// one, Failure that names the ranks which have not come within the limit.
Meeting meet(const Launch& launch, std::chrono::milliseconds limit);

inline double in_seconds(std::chrono::milliseconds limit) {
  return std::chrono::duration<double>(limit).count();
}

// Keys of a c10d store with texts as values.
void put(c10d::Store& store, const std::string& key, const std::string& value);
// Nothing where the key is not there.
std::optional<std::string> look_up(c10d::Store& store, const std::string& key);

}  // namespace edelta::dist
