// The report as Markdown, with the figures as files beside it.
#pragma once

#include <string>

#include "reproduce/report/document.h"

namespace edelta::reproduce::report {

std::string to_markdown(const Document& document);

// Shows exactly this text, on one line, also within a table.
std::string markdown_escaped(const std::string& text);

}  // namespace edelta::reproduce::report
