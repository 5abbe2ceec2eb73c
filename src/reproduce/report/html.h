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

// Parts of it, for pages of another kind. The page gives its body the report's style; the body is
// HTML, the title plain text.
std::string html_table(const ReportTable& table);
std::string html_figure(const ReportFigure& figure, const RenderedFigure& picture);
std::string html_page(const std::string& title, const std::string& body);

}  // namespace edelta::reproduce::report
