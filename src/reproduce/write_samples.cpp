#include "reproduce/write_samples.h"

#include <nlohmann/json.hpp>

#include "base/required_fields.h"
#include "edelta/infer/generator.h"
#include "edelta/train/run_folder.h"
#include "infer/model_source.h"
#include "infer/text_stream.h"

namespace edelta::reproduce {

nlohmann::ordered_json write_samples(const WriteSamples& request) {
  const train::RunFolder run(request.run);
  const auto tokenizer = run.read_tokenizer();
  if (!tokenizer) throw InputError(request.run.string() + ": there is no tokenizer");
  infer::Generator generator(train::load_run_model(run, train::Which::best),
                             {.samples = request.samples, .seed = request.seed});
  generator.start(infer::beginning(tokenizer.get()));
  std::vector<infer::TextStream> streams(request.samples);
  std::vector<std::string> texts(request.samples);
  for (int64_t i = 0; i < request.tokens; ++i) {
    const auto drawn = generator.next();
    for (size_t s = 0; s < texts.size(); ++s) {
      texts[s] += streams[s].add(tokenizer->bytes_of(drawn[s]));
    }
  }
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (size_t s = 0; s < texts.size(); ++s) {
    samples.push_back({{"text", texts[s] + streams[s].finish()}});
  }
  return {{"samples", samples}};
}

std::vector<std::string> samples_from_json(const nlohmann::json& json, const std::string& source) {
  std::vector<std::string> texts;
  with_source(source, [&] {
    for (const nlohmann::json& sample : base::required_list(json, "samples")) {
      texts.push_back(base::required<std::string>(sample, "text"));
    }
  });
  return texts;
}

}  // namespace edelta::reproduce
