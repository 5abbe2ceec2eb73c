#include "reproduce/report/report.h"

#include <fmt/format.h>

#include <map>

#include "base/atomic_file.h"
#include "edelta/base/error.h"
#include "reproduce/report/document.h"
#include "reproduce/report/html.h"
#include "reproduce/report/markdown.h"
#include "reproduce/report/rendered_figure.h"

namespace edelta::reproduce::report {
namespace {

using Figures = std::map<std::string, RenderedFigure>;

Figures render_figures(const Results& results) {
  Figures figures;
  for (const ExperimentResult& experiment : results.experiments) {
    for (const Figure& figure : experiment.figures) {
      const std::string id = slug(figure.id);
      if (!figures.emplace(id, render_figure(figure)).second) {
        throw InputError(fmt::format("two figures have the id {}", id));
      }
    }
  }
  return figures;
}

}  // namespace

std::vector<std::filesystem::path> write_report(const Results& results,
                                                const std::filesystem::path& folder) {
  const Document document = make_document(results);
  const Figures figures = render_figures(results);
  const std::filesystem::path pictures = folder / "figures";
  base::make_folder(pictures);
  for (const auto& [id, figure] : figures) {
    base::write_text_atomically(pictures / (id + ".svg"), figure.wide_svg);
    base::write_text_atomically(pictures / (id + ".png"), figure.png);
  }
  const std::filesystem::path html = folder / "report.html", markdown = folder / "report.md";
  base::write_text_atomically(html, to_html(document, figures));
  base::write_text_atomically(markdown, to_markdown(document));
  return {html, markdown};
}

}  // namespace edelta::reproduce::report
