"""Where the parameters of a hybrid operator come from.

Every generator makes rows of numbers from the pooled input: u (n), v (n), β before its softplus, k (n), γ before its
sigmoid, as far as the operator has them.
"""

from typing import List

import torch
from torch import Tensor, nn

from .nets import Net, draw
from .norm import LayerNorm


def row_length(streams: int, operator: str) -> int:
    """How many numbers make one operator."""
    return {"hybrid": 3 * streams + 2, "cayley": 2 * streams + 1, "householder": streams}[operator]


def start_live(*vectors: Tensor) -> None:
    """Random directions with length 1, so that a rotation turns, and learns, from the start."""
    with torch.no_grad():
        for vector in vectors:
            vector.normal_()
            vector /= vector.norm()


class NetGenerator(nn.Module):
    """The published EΔ generator: a net each for u, v, β and k, a linear gate."""

    def __init__(
        self, width: int, streams: int, hidden: int, operator: str, live: bool, gate_bias: float, std: float
    ) -> None:
        super().__init__()
        rotates, reflects = operator != "householder", operator != "cayley"
        self.u_net = Net(width, hidden, streams) if rotates else None
        self.v_net = Net(width, hidden, streams) if rotates else None
        self.beta_net = Net(width, hidden, 1) if rotates else None
        self.k_net = Net(width, hidden, streams) if reflects else None
        self.gate_net = nn.Linear(width, 1) if rotates and reflects else None
        draw(self, std)
        if self.u_net is not None and self.v_net is not None and live:
            start_live(self.u_net[2].bias, self.v_net[2].bias)
        if self.gate_net is not None:
            nn.init.zeros_(self.gate_net.weight)
            nn.init.constant_(self.gate_net.bias, gate_bias)

    def forward(self, pooled: Tensor) -> Tensor:
        # Nets that look at the same input are one: first layers side by side, second layers as blocks on a diagonal.
        layers: List[Tensor] = []
        if self.u_net is not None:
            layers += [self.u_net[0].weight, self.u_net[0].bias, self.u_net[2].weight, self.u_net[2].bias]
        if self.v_net is not None:
            layers += [self.v_net[0].weight, self.v_net[0].bias, self.v_net[2].weight, self.v_net[2].bias]
        if self.beta_net is not None:
            layers += [self.beta_net[0].weight, self.beta_net[0].bias, self.beta_net[2].weight, self.beta_net[2].bias]
        if self.k_net is not None:
            layers += [self.k_net[0].weight, self.k_net[0].bias, self.k_net[2].weight, self.k_net[2].bias]
        row = torch.ops.edelta.mlp(
            pooled,
            torch.cat(layers[0::4]),
            torch.cat(layers[1::4]),
            torch.ops.aten.block_diag(layers[2::4]),
            torch.cat(layers[3::4]),
        )
        if self.gate_net is not None:
            row = torch.cat([row, self.gate_net(pooled)], -1)
        return row


class JointGenerator(nn.Module):
    """The streamed variant's: one net LN → Linear → GELU → Linear for all numbers."""

    def __init__(
        self, width: int, streams: int, hidden: int, operator: str, live: bool, gate_bias: float, std: float
    ) -> None:
        super().__init__()
        self.norm = LayerNorm(width, bias=True)
        self.geo_proj = Net(width, hidden, row_length(streams, operator))
        draw(self, std)
        if live and operator != "householder":
            start_live(self.geo_proj[2].bias[:streams], self.geo_proj[2].bias[streams : 2 * streams])
        if operator == "hybrid":
            with torch.no_grad():
                self.geo_proj[2].bias[-1] = gate_bias

    def forward(self, pooled: Tensor) -> Tensor:
        return self.geo_proj(self.norm(pooled))


class FixedGenerator(nn.Module):
    """Learned numbers that do not look at the input."""

    def __init__(self, streams: int, operator: str, live: bool, gate_bias: float, std: float) -> None:
        super().__init__()
        # Not zero: at u = v = 0 the rotation, and at k = 0 the reflection, has no gradient.
        self.geometry = nn.Parameter(std * torch.randn(row_length(streams, operator)))
        if live and operator != "householder":
            start_live(self.geometry[:streams], self.geometry[streams : 2 * streams])
        if operator == "hybrid":
            with torch.no_grad():
                self.geometry[-1] = gate_bias

    def forward(self, pooled: Tensor) -> Tensor:
        return self.geometry.expand(pooled.size(0), 1, self.geometry.size(0))
