// edelta watch: the page of edelta compare, served while the runs go on.
#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/interrupted.h"
#include "cli/page_server.h"
#include "cli/stop_signal.h"
#include "reproduce/compare/comparison_page.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;

struct WatchOptions {
  std::vector<std::string> runs;
  std::string title = "Runs";
  std::uint16_t port = 0;
  double every = 10;
};

// Changes when any of the runs has something new to show.
std::string stamp_of(const std::vector<std::string>& runs) {
  std::string stamp;
  for (const std::string& folder : runs) {
    const train::RunFolder run(folder);
    for (const fs::path& file : {run.config_file(), run.metrics_file(), run.result_file()}) {
      std::error_code error;
      const auto size = fs::file_size(file, error);
      const auto time = fs::last_write_time(file, error).time_since_epoch().count();
      stamp += fmt::format("{} {};", size, error ? 0 : time);
    }
    stamp += fmt::format("{}\n", static_cast<int>(train::run_state(run).phase));
  }
  return stamp;
}

// Drawing takes a good part of a second, which the runs could use: the page is made again only when
// somebody asks and there is something new.
class LivePage {
 public:
  explicit LivePage(const WatchOptions& options) : options_(options) { renew(); }

  PageAnswer operator()() {
    try {
      renew();
      return {.body = page_};
    } catch (const std::exception& error) {
      return {500, "text/plain; charset=utf-8", std::string(error.what()) + "\n"};
    }
  }

 private:
  void renew() {
    const std::string stamp = stamp_of(options_.runs);
    if (stamp == stamp_) return;
    page_ = to_html(reproduce::compare_runs({options_.runs.begin(), options_.runs.end()}),
                    {.title = options_.title, .refresh_seconds = options_.every});
    stamp_ = stamp;
  }

  const WatchOptions& options_;
  std::string stamp_, page_;
};

void run_watch(const WatchOptions& options) {
  LivePage page(options);  // what is no run is said before anything is served
  PageServer server(options.port);
  remember_signals({SIGINT, SIGTERM}, NextSignal::is_remembered);
  fmt::print("http://127.0.0.1:{}/ (Ctrl-C ends it)\n", server.port());
  std::fflush(stdout);
  throw Interrupted(server.serve([&] { return page(); }, received_signal));
}

}  // namespace

void add_watch(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("watch", "Serve the page of compare, renewed while the runs go on");
  auto options = std::make_shared<WatchOptions>();
  command->add_option("RUN", options->runs, "Run folders")->required();
  command->add_option("--port", options->port, "Port on 127.0.0.1; 0: a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--every", options->every, "Seconds between renewals in the browser")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->add_option("--title", options->title, "Title of the page")->capture_default_str();
  command->footer(
      "Only this machine can see the page. From another one:\n"
      "  ssh -L 8080:127.0.0.1:8080 HOST edelta watch runs/mine --port 8080\n\n"
      "Examples:\n  edelta watch runs/mine\n  edelta watch runs/one runs/two --port 8080");
  command->callback([options] { run_watch(*options); });
}

}  // namespace edelta::cli
