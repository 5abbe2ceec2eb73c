#include "edelta/experiments/report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "edelta/error.h"
#include "edelta/experiments/figure.h"
#include "edelta/io/atomic_file.h"
#include "experiments/report/document.h"
#include "experiments/report/html.h"
#include "experiments/report/markdown.h"

namespace edelta::experiments {
namespace {

using Figures = std::map<std::string, RenderedFigure>;

Figures render_figures(const nlohmann::ordered_json& results) {
  Figures figures;
  for (const auto& experiment : results.at("experiments")) {
    for (const auto& figure : experiment.value("figures", nlohmann::ordered_json::array())) {
      const std::string id = report::slug(figure.at("id").get<std::string>());
      if (!figures.emplace(id, render_figure(figure)).second) {
        throw InputError(fmt::format("two figures have the id {}", id));
      }
    }
  }
  return figures;
}

// Without the number that the library puts before it.
std::string reason(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const size_t number_end = text.find("] ");
  return number_end == std::string::npos ? text : text.substr(number_end + 2);
}

}  // namespace

std::vector<std::filesystem::path> write_report(const nlohmann::ordered_json& results,
                                                const std::filesystem::path& folder) try {
  const report::Document document = report::make_document(results);
  const Figures figures = render_figures(results);
  const std::filesystem::path pictures = folder / "figures";
  io::make_folder(pictures);
  for (const auto& [id, figure] : figures) {
    io::write_text_atomically(pictures / (id + ".svg"), figure.wide_svg);
    io::write_text_atomically(pictures / (id + ".png"), figure.png);
  }
  const std::filesystem::path html = folder / "report.html", markdown = folder / "report.md";
  io::write_text_atomically(html, report::to_html(document, figures));
  io::write_text_atomically(markdown, report::to_markdown(document));
  return {html, markdown};
} catch (const nlohmann::json::exception& error) {
  throw InputError("these are no results of a reproduction: " + reason(error));
}

}  // namespace edelta::experiments
