"""JPmHC: streams mixed by nearly orthogonal matrices of each token."""

from typing import List, Optional

import torch
from torch import Tensor, nn

from .checks import count, finite
from .connection import Connection
from .router import Router


class JPMHCResidual(Connection):
    """JPmHC around a layer F of width d = dim/streams.

    ``y = F(LN(mean_i (H_pre x)_i)),  x' = H_res x + H_post (y, …, y)``

    All three mixers are n×n matrices made from each token: H_pre by softmax over rows, H_post over columns, H_res by
    the iterated Cayley transform (``edelta.functional.iterative_cayley``). The layer sees d channels.

    dim, streams, branch, norm, channels: as in HybridResidual. alpha, iterations: of the Cayley iteration.
    projection_init: "normal", or "identity": all logits start at zero.
    """

    def __init__(
        self,
        dim: int,
        streams: int = 4,
        branch: Optional[nn.Module] = None,
        *,
        alpha: float = 0.1,
        iterations: int = 2,
        projection_init: str = "normal",
        init_std: float = 0.02,
        norm: Optional[nn.Module] = None,
        channels: str = "last",
    ) -> None:
        super().__init__(dim, streams, branch, norm, channels, narrow=True)
        alpha, iterations = finite("alpha", alpha), count("iterations", iterations)
        self.jpmhc = Router(dim, streams, 3, "fused_proj", projection_init, init_std, alpha, iterations)

    def residual(self, x: Tensor) -> Tensor:
        h_res = self.jpmhc(x)[2]
        self._see(None, h_res)
        return torch.ops.edelta.stream_mix(h_res, x)

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        routed = self.jpmhc(x)
        self._see(None, routed[2])
        y = self._enclosed(routed[0], None, None, None, 1)
        if y is None:
            y = self._layer(routed[0], shape)
        return torch.ops.edelta.stream_update(routed[2], x, routed[1], y)
