// How this process was started as one of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace edelta::dist {

struct Launch {
  int64_t rank = 0, count = 1;
  std::string address;  // of the store, at the first rank; empty with a folder
  uint16_t port = 0;
  std::string folder = {};   // shared by all, instead of an address
  bool agent_store = false;  // torchrun's agent keeps the store, and not the first rank
  std::string attempt = {};  // of torchrun's, whose store outlives a restart
};

// What the environment says, by the conventions of torchrun (RANK, WORLD_SIZE, …), else of Slurm's
// srun, else of Open MPI's mpirun. Nothing where it speaks of one process or of none. `folder`:
// what --store names, or empty. InputError names the variable that is missing or wrong.
std::optional<Launch> launch_from_environment(const std::string& folder = {});

// "n3" of "n[3-7,9],m1", as Slurm writes lists of hosts.
std::string first_host(const std::string& list);

}  // namespace edelta::dist
