// The report as one HTML file that needs no other and no network.
#pragma once

#include <map>
#include <string>

#include "reproduce/report/document.h"
#include "reproduce/report/rendered_figure.h"

namespace edelta::reproduce::report {

// `figures` by the id that the document gives them.
std::string to_html(const Document& document, const std::map<std::string, RenderedFigure>& figures);

std::string html_escaped(const std::string& text);

}  // namespace edelta::reproduce::report
