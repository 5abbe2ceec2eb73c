#include "reproduce/report/rendered_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/input_file.h"
#include "base/temporary_folder.h"
#include "edelta/base/error.h"
#include "reproduce/report/dark_figure.h"
#include "reproduce/report/figure_legend.h"
#include "reproduce/report/figure_panel.h"
#include "reproduce/report/gnuplot.h"
#include "reproduce/report/panel_commands.h"

namespace edelta::reproduce::report {
namespace {

namespace fs = std::filesystem;

// Sizes in pixels at which the text is read; what contains the figure must not shrink it much.
struct Format {
  size_t columns = 1;
  double panel_width = 640, plot_height = 260, font = 14;
};

Format wide_format(size_t panels) {
  if (panels == 1) return {};
  return {.columns = 2, .panel_width = 460, .plot_height = 240, .font = 14};
}

constexpr Format kNarrow{.columns = 1, .panel_width = 380, .plot_height = 230, .font = 13};

constexpr double kLeft = 82, kRight = 22, kRowGap = 12;

// Where everything is: rows of panels, each row with the legends of its panels, or one legend below
// all of them where it explains them all.
class Layout {
 public:
  Layout(const std::vector<DrawnPanel>& panels, const Format& format)
      : panels_(panels), format_(format), plot_width_(format.panel_width - kLeft - kRight) {
    canvas_ = {format.panel_width * static_cast<double>(format.columns), 0, format.font};
    choose_legends();
    for (size_t first = 0; first < panels.size(); first += format.columns) {
      add_row(first, std::min(first + format.columns, panels.size()));
    }
    common_top_ = canvas_.height;
    canvas_.height += common_.height();
  }

  const Canvas& canvas() const { return canvas_; }

  std::string commands() const {
    std::string text = "set multiplot\n";
    for (size_t i = 0; i < panels_.size(); ++i) {
      std::string legend =
          legends_[i].commands(canvas_, frames_[i].left - kLeft + format_.panel_width / 2,
                               canvas_.height - legend_tops_[i]);
      if (i == 0) {
        legend += common_.commands(canvas_, canvas_.width / 2, canvas_.height - common_top_);
      }
      text += panel_commands(panels_[i], i, canvas_, upwards(frames_[i]), legend);
    }
    return text + "unset multiplot\n";
  }

 private:
  // Frames and tops count downwards, from the top, until all of the height is known.
  Frame upwards(const Frame& frame) const {
    return {frame.left, frame.right, canvas_.height - frame.bottom, canvas_.height - frame.top};
  }

  void choose_legends() {
    for (const DrawnPanel& panel : panels_) {
      legends_.emplace_back(panel, format_.panel_width - 20, format_.font);
    }
    for (size_t i = 0; i < panels_.size(); ++i) {
      const bool covers_all =
          std::all_of(legends_.begin(), legends_.end(),
                      [&](const Legend& other) { return legends_[i].covers(other); });
      if (!covers_all) continue;
      common_ = Legend(panels_[i], canvas_.width - 20, format_.font);
      std::fill(legends_.begin(), legends_.end(), Legend());
      return;
    }
  }

  void add_row(size_t first, size_t end) {
    double above = 0, below = 0, legend = 0;
    if (first > 0) canvas_.height += kRowGap;
    for (size_t i = first; i < end; ++i) {
      above = std::max(above, height_above(panels_[i], plot_width_, format_.font));
      below = std::max(below, height_below(panels_[i], plot_width_, format_.font));
      legend = std::max(legend, legends_[i].height());
    }
    const double top = canvas_.height + above, bottom = top + format_.plot_height;
    for (size_t i = first; i < end; ++i) {
      const double left = static_cast<double>(i - first) * format_.panel_width + kLeft;
      frames_.push_back({left, left + plot_width_, bottom, top});
      legend_tops_.push_back(bottom + below);
    }
    canvas_.height = bottom + below + legend;
  }

  const std::vector<DrawnPanel>& panels_;
  Format format_;
  double plot_width_;
  Canvas canvas_;
  std::vector<Frame> frames_;
  std::vector<Legend> legends_;  // below each panel, mostly empty
  std::vector<double> legend_tops_;
  Legend common_;
  double common_top_ = 0;
};

std::string svg_terminal(const Layout& layout, const fs::path& path) {
  return fmt::format(
      "set terminal svg size {:.0f},{:.0f} fixed enhanced background rgb 'white' font "
      "'Liberation Sans,Arial,Helvetica,sans-serif,{}'\nset output {}\n",
      layout.canvas().width, layout.canvas().height, layout.canvas().font,
      gnuplot_quoted(path.string()));
}

// Twice as dense; the terminal counts fonts in points of 4/3 pixels.
std::string png_terminal(const Layout& layout, const fs::path& path) {
  return fmt::format(
      "set terminal pngcairo size {:.0f},{:.0f} enhanced background rgb 'white' fontscale 1.5 "
      "linewidth 2 pointscale 2 font 'Liberation Sans,{}'\nset output {}\n",
      2 * layout.canvas().width, 2 * layout.canvas().height, layout.canvas().font,
      gnuplot_quoted(path.string()));
}

std::string read_picture(const fs::path& path) {
  constexpr std::size_t kLimit = std::size_t{64} << 20;
  std::string content = fs::exists(path) ? base::read_text(path, kLimit) : "";
  if (content.empty()) throw Failure("gnuplot wrote no picture");
  return content;
}

}  // namespace

RenderedFigure render_figure(const Figure& figure) {
  std::vector<DrawnPanel> panels;
  for (const Panel& panel : figure.panels) panels.push_back(prepare_panel(panel));
  if (panels.empty()) throw InputError(fmt::format("figure {}: it has no panels", figure.id));
  const base::TemporaryFolder work;
  const fs::path wide_svg = work.path() / "wide.svg", narrow_svg = work.path() / "narrow.svg",
                 png = work.path() / "wide.png";
  const Layout wide(panels, wide_format(panels.size())), narrow(panels, kNarrow);
  std::string script = "set encoding utf8\n";
  for (size_t i = 0; i < panels.size(); ++i) script += panel_data(panels[i], i);
  script += svg_terminal(wide, wide_svg) + wide.commands();
  script += svg_terminal(narrow, narrow_svg) + narrow.commands();
  script += png_terminal(wide, png) + wide.commands() + "set output\n";
  run_gnuplot(script, work.path());
  return {with_dark_colours(read_picture(wide_svg)), with_dark_colours(read_picture(narrow_svg)),
          read_picture(png)};
}

}  // namespace edelta::reproduce::report
