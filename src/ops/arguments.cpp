#include "ops/arguments.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace edelta::ops {
namespace {

using torch::Tensor;

std::string shape_text(c10::SymIntArrayRef sizes) {
  std::ostringstream text;
  text << "[";
  for (size_t i = 0; i < sizes.size(); ++i) text << (i > 0 ? ", " : "") << sizes[i];
  text << "]";
  return text.str();
}

}  // namespace

Arguments::Arguments(const char* op, std::vector<Argument> arguments)
    : op_(op), arguments_(std::move(arguments)) {
  const Argument* first = nullptr;
  for (const Argument& each : arguments_) {
    if (!each.tensor.defined()) continue;
    TORCH_CHECK(at::isFloatingType(each.tensor.scalar_type()), "edelta::", op_, ": ", each.name,
                " must have a floating dtype, not ", each.tensor.scalar_type());
    TORCH_CHECK(each.tensor.layout() == at::kStrided, "edelta::", op_, ": ", each.name,
                " must be a dense tensor");
    if (first == nullptr) first = &each;
    TORCH_CHECK(each.tensor.scalar_type() == first->tensor.scalar_type(), "edelta::", op_, ": ",
                each.name, " is ", each.tensor.scalar_type(), ", but ", first->name, " is ",
                first->tensor.scalar_type());
    TORCH_CHECK(each.tensor.device() == first->tensor.device(), "edelta::", op_, ": ", each.name,
                " is on ", each.tensor.device(), ", but ", first->name, " is on ",
                first->tensor.device());
  }
}

const Tensor& Arguments::at(const char* name) const {
  return std::find_if(arguments_.begin(), arguments_.end(),
                      [&](const Argument& each) { return std::strcmp(each.name, name) == 0; })
      ->tensor;
}

void Arguments::require(bool holds, const std::string& message) const {
  TORCH_CHECK(holds, "edelta::", op_, ": ", message);
}

void Arguments::require_dims(const char* name, int64_t least) const {
  TORCH_CHECK(at(name).dim() >= least, "edelta::", op_, ": ", name, " must have at least ", least,
              " dimensions, not the shape ", shape_text(at(name).sym_sizes()));
}

void Arguments::require_sizes(const char* name, const SymSizes& sizes, const char* meaning) const {
  const Tensor& tensor = at(name);
  if (!tensor.defined()) return;
  const c10::SymIntArrayRef found = tensor.sym_sizes();
  TORCH_CHECK(std::equal(found.begin(), found.end(), sizes.begin(), sizes.end()), "edelta::", op_,
              ": ", name, " must have the shape ", meaning, " = ", shape_text(sizes), ", not ",
              shape_text(found));
}

void Arguments::require_size(const char* name, int64_t dim, const c10::SymInt& size,
                             const char* meaning) const {
  const Tensor& tensor = at(name);
  TORCH_CHECK(size_of(tensor, dim) == size, "edelta::", op_, ": ", name, " must have the shape ",
              meaning, ", so that dimension ", dim, " is ", size, ", not the shape ",
              shape_text(tensor.sym_sizes()));
}

void Arguments::require_nonzero(const char* name, int64_t dim) const {
  const Tensor& tensor = at(name);
  TORCH_CHECK(size_of(tensor, dim) != 0, "edelta::", op_, ": ", name, " has nothing in dimension ",
              dim, ": its shape is ", shape_text(tensor.sym_sizes()));
}

c10::SymInt size_of(const Tensor& tensor, int64_t dim) {
  return tensor.sym_sizes()[static_cast<size_t>(c10::maybe_wrap_dim(dim, tensor.dim()))];
}

SymSizes leading(const Tensor& tensor, int64_t count) {
  const c10::SymIntArrayRef sizes = tensor.sym_sizes();
  return {sizes.begin(), sizes.end() - count};
}

SymSizes leading_with(const Tensor& tensor, std::initializer_list<c10::SymInt> last,
                      int64_t count) {
  SymSizes sizes = leading(tensor, count);
  sizes.insert(sizes.end(), last);
  return sizes;
}

}  // namespace edelta::ops
