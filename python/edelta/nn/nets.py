"""Small nets that make an operator's parameters."""

import torch
from torch import Tensor, nn


class Net(nn.Sequential):
    """Linear, GELU, Linear; its parameters are named "0.*" and "2.*"."""

    def __init__(self, width: int, hidden: int, out: int) -> None:
        super().__init__(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, out))

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.edelta.mlp(x, self[0].weight, self[0].bias, self[2].weight, self[2].bias)


def draw(module: nn.Module, std: float) -> None:
    """Weights N(0, std²), biases 0, as the published models start."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, 0.0, std)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


def check_pool(pool: str) -> None:
    if pool not in ("sequence", "prefix", "token"):
        raise ValueError(f"pool is '{pool}'; it must be sequence, prefix or token")


def pooled(x: Tensor, pool: str) -> Tensor:
    """What an operator looks at: [B, 1, D] for "sequence", else [B, T, D]."""
    if pool == "sequence":
        return torch.ops.edelta.sequence_mean(x)
    if pool == "prefix":
        return torch.ops.edelta.prefix_mean(x)
    return x
