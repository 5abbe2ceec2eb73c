// The part of libtorch that this library uses.
//
// <torch/torch.h> brings all of it, and every translation unit then spends seconds on templates
// that nothing here needs; this brings tensors, autograd and the two modules with parameters.
#pragma once

#include <torch/autograd.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
