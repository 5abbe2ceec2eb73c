// The report as Markdown, with the figures as files beside it.
#pragma once

#include <string>

#include "experiments/report/document.h"

namespace edelta::experiments::report {

std::string to_markdown(const Document& document);

// Shows exactly this text, on one line, also within a table.
std::string markdown_escaped(const std::string& text);

}  // namespace edelta::experiments::report
