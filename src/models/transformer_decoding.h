// The transformer for decoding: embedding, connections, head, on plain memory.
#pragma once

#include <memory>
#include <vector>

#include "edelta/models/connection.h"
#include "models/head.h"
#include "nn/row_map.h"

namespace edelta::models {

class TransformerDecoding : public ModelDecoding {
 public:
  TransformerDecoding(const TokenTables& tables,
                      std::vector<std::unique_ptr<ConnectionDecoding>> connections,
                      nn::RowMap head);

  void operator()(const nn::Stretch& stretch, const int32_t* tokens, float* logits) override;

 private:
  void embed(const nn::Stretch& stretch, const int32_t* tokens, float* x) const;

  torch::Tensor wte_, wpe_;
  std::vector<std::unique_ptr<ConnectionDecoding>> connections_;
  nn::RowMap head_;
};

}  // namespace edelta::models
