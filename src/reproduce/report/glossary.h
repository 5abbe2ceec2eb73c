// The signs and abbreviations of the report's tables, in words.
#pragma once

#include <string>
#include <vector>

namespace edelta::reproduce::report {

struct ReportTable;

// A sentence for each sign and abbreviation in the table's titles and labels, and for the marks
// that its cells have.
std::vector<std::string> explain(const ReportTable& table);

}  // namespace edelta::reproduce::report
