// What a model is: a plain struct that round-trips through JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "edelta/models/option_group.h"

namespace edelta::models {

enum class Head {
  continuous,  // vectors in, vectors out, mean squared error
  token        // tokens in, logits out, cross-entropy
};

// What every architecture has, and the options of those that have more. The JSON object is flat:
// its keys are the names of the members and of the groups' fields.
struct ModelConfig {
  std::string model = "edelta";  // an architecture of the registry
  Head head = Head::continuous;
  int64_t n_layer = 6;
  int64_t n_embd = 128;  // D
  int64_t n_head = 4;
  int64_t n_streams = 4;     // n
  int64_t block_size = 256;  // the longest sequence
  int64_t input_dim = 16;    // continuous head
  int64_t vocab_size = 256;  // token head
  bool bias = false;         // of the transformer's linear layers and norms
  double dropout = 0;
  double init_std = 0.02;  // of weights and tables at the start
  Options options;

  int64_t stream_width() const { return n_embd / n_streams; }  // d

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"model", ""}, self.model);
    visit(Field{"head", ""}, self.head);
    visit(Field{"n_layer", "Depth", "layers"}, self.n_layer);
    visit(Field{"n_embd", "Width D", "width"}, self.n_embd);
    visit(Field{"n_head", "Attention heads", "heads"}, self.n_head);
    visit(Field{"n_streams", "Streams n", "streams"}, self.n_streams);
    visit(Field{"block_size", "Longest sequence (default: that of the data)", "block"},
          self.block_size);
    visit(Field{"input_dim", ""}, self.input_dim);
    visit(Field{"vocab_size", "Vocabulary of text (default: that of the data)", "vocab"},
          self.vocab_size);
    visit(Field{"bias", "Biases in the transformer: true or false"}, self.bias);
    visit(Field{"dropout", "Dropout probability"}, self.dropout);
    visit(Field{"init_std", "Standard deviation of the weights at the start"}, self.init_std);
  }
};

// The largest value of a size: products of two stay far from overflow.
inline constexpr int64_t kLargestSize = int64_t{1} << 24;
// InputError with the field's name and the range.
void require_range(const std::string& name, int64_t value, int64_t least, int64_t most);

// Throws InputError that names the key when a value is impossible.
void validate(const ModelConfig& config);

// With the options of every architecture that is registered, so that a file says what a change of
// its `model` would mean.
nlohmann::ordered_json to_json(const ModelConfig& config);

// Absent keys keep their defaults; unknown keys, wrong types and impossible values are InputErrors.
// Strings are taken for numbers and booleans too ("4", "true"): trace files store their
// configuration as text. `source` names where the JSON came from; keys in `ignored` are passed
// over.
ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& source,
                                   const std::set<std::string>& ignored = {});

// The fields of the struct and of all option groups.
std::vector<Field> model_fields();

// The configurations with matched parameter counts that the paper compares.
ModelConfig matched_config(const std::string& model);

}  // namespace edelta::models
