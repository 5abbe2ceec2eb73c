#include "reproduce/report/glossary.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "reproduce/report/document.h"

namespace edelta::reproduce::report {
namespace {

struct Term {
  const char* sign;
  const char* meaning;
};
constexpr std::array<Term, 16> kTerms{{
    {"validation loss",
     "Validation loss: mean squared error (MSE) on trajectories that were not trained on; best, "
     "the "
     "smallest in the course of training; final, at its end."},
    {"training loss",
     "Training loss: mean over the batches that were logged in the last tenth of the iterations."},
    {"rank", "Rank: 1 is the smallest."},
    {"γ", "γ: the gate of the hybrid operator; 1 is the rotation, 0 the reflection."},
    {"β", "β: the step of the delta operator I − β k kᵀ; 0 is the identity, 2 a reflection."},
    {"λ", "λ: the weight of the gate’s regulariser in the loss."},
    {"bias", "Bias: where the gate starts; γ = σ(bias) at first."},
    {"alignment", "Alignment: mean cosine between output and −x; 1 is −x, −1 is x."},
    {"D", "D: the width of the model."},
    {"n =", "n: the number of streams that D is divided into."},
    {"signal out/in",
     "Signal out/in: the norm of a token after the last layer over that before the first."},
    {"gradient first/last",
     "Gradient first/last: the norm of the loss’s gradient before the first layer over that after "
     "the last."},
    {"cosine", "Cosine: mean over all pairs; 1 is a collapse into one direction."},
    {"σ_min",
     "σ: smallest and largest singular value; both are 1 where nothing is lost or amplified."},
    {"GFLOP", "GFLOP: 10⁹ floating-point operations."},
    {"FMA",
     "FMA: fused multiply-add, a multiplication and an addition in one instruction; the peak is "
     "what "
     "this processor does of them if it does nothing else."},
}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// As a word of its own.
bool contains(const std::string& text, const std::string& sign) {
  for (size_t at = 0; (at = text.find(sign, at)) != std::string::npos; ++at) {
    const size_t end = at + sign.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string words_of(const ReportTable& table) {
  std::string text = table.title;
  for (const TableColumn& column : table.columns) text += " " + column.title;
  for (const TableRow& row : table.rows) text += " " + row.label;
  return text;
}

template <class Predicate>
bool any_cell(const ReportTable& table, Predicate predicate) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), predicate);
  });
}

}  // namespace

std::vector<std::string> explain(const ReportTable& table) {
  std::vector<std::string> sentences;
  const std::string words = words_of(table);
  for (const Term& term : kTerms) {
    if (contains(words, term.sign)) sentences.emplace_back(term.meaning);
  }
  if (any_cell(table, [](const TableCell& cell) { return !cell.number.spread.empty(); })) {
    sentences.emplace_back("±: standard deviation over seeds.");
  }
  if (any_cell(table, [](const TableCell& cell) { return !cell.remark.empty(); })) {
    sentences.emplace_back("(n = …): a mean over fewer seeds than the others.");
  }
  if (any_cell(table, [](const TableCell& cell) { return cell.number.value == kNothing; })) {
    sentences.push_back(std::string(kNothing) +
                        ": the paper does not have it, or it was not measured.");
  }
  return sentences;
}

}  // namespace edelta::reproduce::report
