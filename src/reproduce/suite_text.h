// What the language models of a suite learn from.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "edelta/data/text.h"
#include "reproduce/step.h"
#include "reproduce/suite_folder.h"

namespace edelta::reproduce {

bool trains_on_text(const std::vector<Step>& steps);

// Makes the suite's tokens, a character each, of these files; where it has tokens, checks that they
// are of the same text. InputError where they are not.
void prepare_text(const SuiteFolder& folder, const std::vector<std::filesystem::path>& files,
                  const std::function<void(const data::TextProgress&)>& on_progress = {});

// "4.3 MB, 78 different characters"; empty where there is no text yet.
std::string text_size(const SuiteFolder& folder);

}  // namespace edelta::reproduce
