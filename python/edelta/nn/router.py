"""Routing by token: what goes from the streams into a layer, and what comes back."""

from typing import List

import torch
from torch import Tensor, nn

from .nets import draw
from .norm import LayerNorm


class Router(nn.Module):
    """Mixers from the logits ``Linear(LN(x))``, n×n matrices side by side: H_pre, H_post, and H_res where there are
    three.

    ``aggregate = mean_i (softmax_rows(Z_pre) x)_i``; of H_post = softmax_columns(Z_post) its row sums count, because it
    meets the same vector in every stream; H_res is the iterated Cayley transform of Z_res.
    """

    def __init__(
        self,
        width: int,
        streams: int,
        matrices: int,
        name: str,
        init: str,
        std: float,
        alpha: float = 0.1,
        iterations: int = 2,
    ) -> None:
        super().__init__()
        if init not in ("normal", "identity"):
            raise ValueError(f"projection_init is '{init}'; it must be normal or identity")
        self.streams = streams
        self.alpha = alpha
        self.iterations = iterations
        self.norm = LayerNorm(width, bias=True)
        projection = nn.Linear(width, matrices * streams * streams)
        draw(projection, std)
        if init == "identity":
            nn.init.zeros_(projection.weight)
        # The published models have two names for it.
        self.proj = projection if name == "proj" else None
        self.fused_proj = projection if name == "fused_proj" else None

    def forward(self, x: Tensor) -> List[Tensor]:
        """[aggregate [B, T, d], post [B, T, n]], and H_res [B, T, n, n] if there are logits for it."""
        if self.proj is not None:
            weight, bias = self.proj.weight, self.proj.bias
        else:
            weight, bias = self.fused_proj.weight, self.fused_proj.bias
        return torch.ops.edelta.route(
            x, self.norm.weight, self.norm.bias, weight, bias, self.streams, self.alpha, self.iterations
        )
