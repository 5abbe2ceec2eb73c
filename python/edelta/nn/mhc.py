"""mHC: streams mixed by doubly stochastic matrices of each token."""

from typing import List, Optional, Tuple

import torch
from torch import Tensor, nn

from .checks import count
from .connection import Connection
from .norm import RMSNorm

_INITIAL_ALPHA = 0.01
_INITIAL_RESIDUAL_LOGIT = 2.0  # b_res = 2 I: close to the identity


class _Mixer(nn.Module):
    """H_pre, H_post and H_res of each token."""

    def __init__(self, width: int, streams: int, iterations: int, std: float) -> None:
        super().__init__()
        self.streams = streams
        self.iterations = iterations
        self.rms_norm = RMSNorm(width)
        self.phi_pre = nn.Linear(width, streams, bias=False)
        self.phi_post = nn.Linear(width, streams, bias=False)
        self.phi_res = nn.Linear(width, streams * streams, bias=False)
        for phi in (self.phi_pre, self.phi_post, self.phi_res):
            nn.init.normal_(phi.weight, 0.0, std)
        self.alpha_pre = nn.Parameter(torch.tensor(_INITIAL_ALPHA))
        self.alpha_post = nn.Parameter(torch.tensor(_INITIAL_ALPHA))
        self.alpha_res = nn.Parameter(torch.tensor(_INITIAL_ALPHA))
        self.b_pre = nn.Parameter(torch.zeros(streams))
        self.b_post = nn.Parameter(torch.zeros(streams))
        self.b_res = nn.Parameter(_INITIAL_RESIDUAL_LOGIT * torch.eye(streams))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        n = self.streams
        # The three maps look at the same normalised token: one product for all.
        phi = torch.cat([self.phi_pre.weight, self.phi_post.weight, self.phi_res.weight])
        z = torch.ops.edelta.linear(x, phi, None, self.rms_norm.weight, None, True)
        pre = torch.sigmoid(self.alpha_pre * z[..., :n] + self.b_pre)
        post = 2 * torch.sigmoid(self.alpha_post * z[..., n : 2 * n] + self.b_post)
        logits = self.alpha_res * z[..., 2 * n :].reshape(x.size(0), x.size(1), n, n) + self.b_res
        return pre, post, torch.ops.edelta.sinkhorn(logits, self.iterations)


class MHCResidual(Connection):
    """mHC around any layer F.

    ``a = Σ_i H_pre,i x_i,  y = F(LN(a, …, a)),  x' = H_res x + H_post ⊙ y``

    with r = RMSNorm(x), H_pre = σ(α φ_pre r + b), H_post = 2σ(α φ_post r + b), H_res = Sinkhorn(α mat(φ_res r) + b)
    of each token (``edelta.functional.sinkhorn``). The layer sees dim channels, n equal streams.

    dim, streams, branch, norm, channels: as in HybridResidual. iterations: of Sinkhorn.
    """

    def __init__(
        self,
        dim: int,
        streams: int = 4,
        branch: Optional[nn.Module] = None,
        *,
        iterations: int = 20,
        init_std: float = 0.02,
        norm: Optional[nn.Module] = None,
        channels: str = "last",
    ) -> None:
        super().__init__(dim, streams, branch, norm, channels, narrow=False)
        self.mhc = _Mixer(dim, streams, count("iterations", iterations), init_std)

    def residual(self, x: Tensor) -> Tensor:
        _, _, h_res = self.mhc(x)
        self._see(None, h_res)
        return torch.ops.edelta.stream_mix(h_res, x)

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        pre, post, h_res = self.mhc(x)
        self._see(None, h_res)
        a = torch.ops.edelta.stream_aggregate(pre, x)
        y = self._enclosed(a, None, None, None, self.streams)
        if y is None:
            y = self._layer(a.repeat(1, 1, self.streams), shape)
        return torch.ops.edelta.stream_update(h_res, x, post, y)
