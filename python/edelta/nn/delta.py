"""DDL: the residual stream goes through a rank-one operator with learned β."""

from typing import List, Optional

import torch
from torch import Tensor, nn

from .checks import hidden_width
from .connection import Connection
from .nets import Net, check_pool, draw, pooled


class _Delta(nn.Module):
    """k and β from the pooled input, applied to x."""

    def __init__(self, width: int, hidden: int, pool: str, std: float) -> None:
        super().__init__()
        self.pool = pool
        self.k_net = Net(width, hidden, width)
        self.beta_net = Net(width, hidden, 1)
        draw(self, std)

    def forward(self, x: Tensor) -> Tensor:
        seen = pooled(x, self.pool)
        beta = 2 * torch.sigmoid(self.beta_net(seen))
        return torch.ops.edelta.delta(self.k_net(seen), beta, x)


class DeltaResidual(Connection):
    """DDL around any layer F.

    ``z = x − β k (kᵀx),  y = z + F(LN z)`` with |k| = 1 and β = 2σ(·) from the pooled input, over the full width.

    dim, branch, pool, norm, channels: as in HybridResidual. hidden: hidden width of the nets, dim/4 by default.
    """

    def __init__(
        self,
        dim: int,
        branch: nn.Module,
        pool: str = "prefix",
        *,
        hidden: Optional[int] = None,
        init_std: float = 0.02,
        norm: Optional[nn.Module] = None,
        channels: str = "last",
    ) -> None:
        super().__init__(dim, 1, branch, norm, channels, narrow=False)
        check_pool(pool)
        self.delta = _Delta(dim, hidden_width(max(dim // 4, 1) if hidden is None else hidden), pool, init_std)

    def residual(self, x: Tensor) -> Tensor:
        return self.delta(x)

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        z = self.residual(x)
        y = self._enclosed(z, None, None, z, 1)
        return z + self._layer(z, shape) if y is None else y
