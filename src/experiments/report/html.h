// The report as one HTML file that needs no other and no network.
#pragma once

#include <map>
#include <string>

#include "edelta/experiments/figure.h"
#include "experiments/report/document.h"

namespace edelta::experiments::report {

// `figures` by the id that the document gives them.
std::string to_html(const Document& document, const std::map<std::string, RenderedFigure>& figures);

std::string html_escaped(const std::string& text);

}  // namespace edelta::experiments::report
