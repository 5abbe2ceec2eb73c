#include "cli/text_progress.h"

#include <fmt/format.h>

#include "cli/interrupted.h"
#include "cli/stop_signal.h"

namespace edelta::cli {

void TextProgressLine::show(const data::TextProgress& progress) {
  using Clock = std::chrono::steady_clock;
  using Stage = data::TextProgress::Stage;
  if (received_signal() != 0) throw Interrupted(received_signal());
  if (progress.stage == Stage::merging) {
    line_.show({fmt::format("{} of {} tokens learnt", progress.done, progress.all)});
    return;
  }
  const bool encoding = progress.stage == Stage::encoding;
  if (encoding && !began_) began_ = Clock::now();
  std::vector<std::string> parts{fmt::format("{}: {:.1f} of {:.1f} MB",
                                             encoding ? "encoding" : "reading", progress.done / 1e6,
                                             progress.all / 1e6)};
  const double seconds = began_ ? std::chrono::duration<double>(Clock::now() - *began_).count() : 0;
  if (encoding && seconds > 0) {
    parts.push_back(fmt::format("{:.3g} million tokens/s", progress.tokens / seconds / 1e6));
  }
  line_.show(parts);
}

}  // namespace edelta::cli
