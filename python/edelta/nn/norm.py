"""Normalisations."""

from typing import Optional

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """``(x − mean)/√(var + 1e-5) · weight + bias`` over the last dimension; the bias is optional."""

    bias: Optional[Tensor]

    def __init__(self, width: int, bias: bool = False) -> None:
        super().__init__()
        self.width = width
        self.weight = nn.Parameter(torch.ones(width))
        if bias:
            self.bias = nn.Parameter(torch.zeros(width))
        else:
            self.register_parameter("bias", None)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.layer_norm(x, [self.width], self.weight, self.bias, 1e-5)

    def extra_repr(self) -> str:
        return f"{self.width}, bias={self.bias is not None}"


class RMSNorm(nn.Module):
    """``x/√(mean x² + 1e-6) · weight`` over the last dimension."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.edelta.normalise(x, self.weight, None, True)
