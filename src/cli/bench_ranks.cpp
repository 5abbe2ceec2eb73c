#include "cli/bench_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "bench/rank_bench.h"
#include "cli/own_process.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "dist/join.h"
#include "dist/secret.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/train/gradient_exchange.h"

namespace edelta::cli {
namespace {

using bench::RankTimes;

constexpr auto kLimit = std::chrono::seconds(300);

// One that nobody uses now.
uint16_t free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const bool found =
      ::bind(descriptor, plain, size) == 0 && ::getsockname(descriptor, plain, &size) == 0;
  ::close(descriptor);
  if (!found) throw Failure(fmt::format("no free port: {}", std::strerror(errno)));
  return ntohs(address.sin_port);
}

using Words = std::vector<std::string>;

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(descriptor, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text;
}

RankTimes measure(const RankBenchOptions& options, const std::string& model, int64_t ranks,
                  int64_t threads) {
  Words arguments{"bench",         "--as-rank",
                  "--task",        options.task,
                  "--models",      model,
                  "--batch",       std::to_string(options.bench.batch),
                  "--length",      std::to_string(options.bench.length),
                  "--repetitions", std::to_string(options.bench.repetitions),
                  "--threads",     std::to_string(threads)};
  for (const auto& [flag, value] : {std::pair{"--layers", options.bench.layers},
                                    {"--width", options.bench.width},
                                    {"--vocab", options.bench.vocabulary}}) {
    if (value > 0) arguments.insert(arguments.end(), {flag, std::to_string(value)});
  }
  // The first of two variables of one name counts.
  const Words common{fmt::format("WORLD_SIZE={}", ranks),
                     "MASTER_ADDR=127.0.0.1",
                     fmt::format("MASTER_PORT={}", free_port()),
                     "EDELTA_SECRET=" + dist::hexadecimal(dist::random_bytes()),
                     "TORCHELASTIC_USE_AGENT_STORE=",
                     "GOMP_SPINCOUNT=10000"};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Failure("no pipe to the ranks");
  std::vector<pid_t> children;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Words environment = common;
    environment.push_back(fmt::format("RANK={}", rank));
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    children.push_back(start_own_process(arguments, environment, ends[1], STDERR_FILENO));
  }
  ::close(ends[1]);
  const std::string printed = read_all(ends[0]);
  ::close(ends[0]);
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    good = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
           good;
  }
  if (!good) throw Failure("the ranks could not be measured");
  const std::string source = "what rank 0 printed";
  return bench::rank_times_from_json(base::parse_json(printed, source), source);
}

void keep_faster(RankTimes& best, const RankTimes& times) {
  const double exchange =
      best.exchange > 0 ? std::min(best.exchange, times.exchange) : times.exchange;
  if (best.step == 0 || times.step < best.step) best = times;
  best.exchange = exchange;
}

std::string millions(double count) { return fmt::format("{:.3g}M", 1e-6 * count); }

void print_projection(const std::vector<bench::Projection>& projections, int64_t tokens) {
  Table table({{"parameters", Align::right},
               {"Gbit/s", Align::right},
               {"machines", Align::right},
               {"compute s", Align::right},
               {"exchange s", Align::right},
               {"efficiency", Align::right}});
  for (const auto& each : projections) {
    table.add({millions(each.parameters), fmt::format("{:g}", each.gigabits),
               std::to_string(each.machines), fmt::format("{:.2f}", each.compute),
               fmt::format("{:.3f}", each.exchange),
               fmt::format("{:.0f} %", 100 * each.efficiency())});
  }
  fmt::print(
      "\nProjection, computed and not measured: machines like this one, {} tokens a step each, "
      "nothing of the exchange hidden behind the backward pass.\n\n{}",
      tokens, table.text());
}

}  // namespace

void bench_as_rank(const RankBenchOptions& options) {
  const auto config = bench::matched_config(options.models.front(), options.bench);
  const auto launch = dist::launch_from_environment();
  const auto joined = launch ? dist::join(*launch, kLimit) : nullptr;
  dist::Ranks& ranks = joined ? *joined : dist::alone();
  const RankTimes times = bench_ranks(config, options.bench, ranks);
  if (ranks.first()) print_json(to_json(times));
}

void bench_processes(const RankBenchOptions& options) {
  const int64_t threads = base::threads();
  if (threads % options.ranks != 0) {
    throw InputError(fmt::format("--threads is {}; {} ranks cannot have equally many of them",
                                 threads, options.ranks));
  }
  train::require_divisible(options.bench.batch, 1, options.ranks, train::Summation::running);
  constexpr int kTurns = 3;
  Table table({{"model"},
               {"ranks × threads", Align::right},
               {"step s", Align::right},
               {"waiting", Align::right},
               {"exchange alone ms", Align::right},
               {"against one", Align::right}});
  nlohmann::ordered_json out{{"machine", base::describe_machine()}};
  std::vector<bench::Projection> projections;
  const int64_t tokens = options.bench.batch * options.bench.length;
  ProgressLine progress;
  for (const std::string& model : options.models) {
    RankTimes one, several;
    for (int turn = 0; turn < kTurns; ++turn) {
      progress.show({"measuring " + model, fmt::format("{} of {}", turn + 1, kTurns)});
      keep_faster(one, measure(options, model, 1, threads));
      keep_faster(several, measure(options, model, options.ranks, threads / options.ranks));
    }
    for (const RankTimes* times : {&one, &several}) {
      table.add({times == &one ? model : "", fmt::format("{} × {}", times->ranks, times->threads),
                 fmt::format("{:.3f}", times->step),
                 fmt::format("{:.1f} %", 100 * times->share_waiting()),
                 times->ranks > 1 ? fmt::format("{:.1f}", 1e3 * times->exchange) : "-",
                 fmt::format("{:+.1f} %", 100 * (times->step / one.step - 1))});
      out["ranks"].push_back(to_json(*times));
    }
    if (projections.empty()) {
      projections = project(one, several, {one.parameters, 30e6, 124e6}, tokens);
    }
  }
  progress.erase();
  for (const auto& each : projections) {
    out["projection"].push_back({{"parameters", each.parameters},
                                 {"machines", each.machines},
                                 {"gigabits", each.gigabits},
                                 {"compute_s", each.compute},
                                 {"exchange_s", each.exchange},
                                 {"efficiency", each.efficiency()}});
  }
  if (options.json) return print_json(out);
  fmt::print("batch {} × {} positions over loopback, fastest of {} turns of {} steps\n\n{}",
             options.bench.batch, options.bench.length, kTurns, options.bench.repetitions,
             table.text());
  print_projection(projections, tokens);
}

}  // namespace edelta::cli
