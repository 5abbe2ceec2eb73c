#include "dist/launch.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

constexpr int64_t kMostRanks = 4096;
constexpr uint16_t kDefaultPort = 29500;  // torchrun's

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

int64_t number(const char* name, const std::string& text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw InputError(
        fmt::format("{} is '{}'; it must be a number from {} to {}", name, text, least, most));
  }
  return value;
}

int64_t required_number(const char* name, const char* beside, int64_t least, int64_t most) {
  const auto text = variable(name);
  if (!text) throw InputError(fmt::format("{} is set and {} is not", beside, name));
  return number(name, *text, least, most);
}

// The number of a process and of all, under the names of whoever started them.
std::optional<Launch> numbered(const char* rank_name, const char* count_name) {
  const auto count = variable(count_name);
  if (!count) return std::nullopt;
  Launch launch;
  launch.count = number(count_name, *count, 1, kMostRanks);
  launch.rank = required_number(rank_name, count_name, 0, launch.count - 1);
  return launch;
}

std::optional<uint16_t> given_port() {
  const auto port = variable("MASTER_PORT");
  if (!port) return std::nullopt;
  return static_cast<uint16_t>(number("MASTER_PORT", *port, 1, 65535));
}

std::optional<Launch> torchrun() {
  auto launch = numbered("RANK", "WORLD_SIZE");
  if (!launch) return std::nullopt;
  launch->agent_store = variable("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  launch->attempt = variable("TORCHELASTIC_RESTART_COUNT").value_or("");
  return launch;
}

// A batch script has numbers of its own, which srun's processes must not be taken for.
std::optional<Launch> slurm() {
  if (!variable("SLURM_STEP_ID") || !variable("SLURM_STEP_NODELIST")) return std::nullopt;
  auto launch = numbered("SLURM_PROCID", "SLURM_NTASKS");
  if (!launch) return std::nullopt;
  launch->address = first_host(*variable("SLURM_STEP_NODELIST"));
  // Steps on one machine must not meet at one port.
  const auto id = [](const char* name) {
    return number(name, variable(name).value_or("0"), 0, UINT32_MAX);
  };
  constexpr int64_t kFirst = 20000, kPorts = 10000;
  launch->port =
      static_cast<uint16_t>(kFirst + (id("SLURM_JOB_ID") * 16 + id("SLURM_STEP_ID")) % kPorts);
  return launch;
}

std::optional<Launch> open_mpi() {
  auto launch = numbered("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (!launch) return std::nullopt;
  if (variable("OMPI_COMM_WORLD_LOCAL_SIZE") == variable("OMPI_COMM_WORLD_SIZE")) {
    launch->address = "127.0.0.1";
  }
  launch->port = kDefaultPort;
  return launch;
}

}  // namespace

std::string first_host(const std::string& list) {
  const std::string first = list.substr(0, list.find_first_of(",["));
  if (first.size() == list.size() || list[first.size()] == ',') return first;
  // "n[03-10,12]": the first number keeps its zeros.
  const size_t begin = first.size() + 1;
  return first + list.substr(begin, list.find_first_of("-,]", begin) - begin);
}

std::optional<Launch> launch_from_environment(const std::string& folder) {
  auto launch = torchrun();
  if (!launch) launch = slurm();
  if (!launch) launch = open_mpi();
  if (!launch || launch->count == 1) {
    if (!folder.empty()) {
      throw InputError(
          "--store goes with several processes: RANK and WORLD_SIZE, or the variables of Slurm or "
          "Open MPI, say which of them this is");
    }
    return std::nullopt;
  }
  if (!folder.empty()) {
    launch->folder = folder;
    launch->agent_store = false;
    return launch;
  }
  if (const auto address = variable("MASTER_ADDR")) launch->address = *address;
  if (const auto port = given_port()) launch->port = *port;
  if (launch->address.empty()) {
    throw InputError(fmt::format(
        "MASTER_ADDR is not set: the address of rank 0, where the {} ranks meet; or give --store",
        launch->count));
  }
  if (launch->port == 0) {
    throw InputError("MASTER_PORT is not set: a free port of MASTER_ADDR");
  }
  return launch;
}

}  // namespace edelta::dist
