"""The layers F of a transformer, attention and MLP, with what a connection puts around them."""

from typing import Optional

import torch
from torch import Tensor, nn

from .checks import whole_number
from .enclosed import around_mlp, enter, is_linear, leave


class SubLayer(nn.Module):
    """A layer that takes a connection's norm, projections and residual inside: ``around``.

    A connection calls that in place of the layer itself, unless somebody listens to the layer or the norm, or the maps
    inside are no longer PyTorch's own: then the layer is called, and calls its maps.
    """

    def __init__(self, dropout: float) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}; it must be at least 0 and below 1")
        self.dropout = dropout

    @torch.jit.unused
    def has_plain_maps(self) -> bool:
        """Whether all maps inside are what they were made as, so that their weights may be used in their place."""
        return all(is_linear(part) for part in self.children())

    @torch.jit.unused
    def _dropped(self, y: Tensor) -> Tensor:
        return torch.ops.edelta.drop(y, self._drops(), self._key(), 0)

    def _drops(self) -> float:
        return self.dropout if self.training else 0.0

    def _key(self) -> Optional[Tensor]:
        if not self.training or self.dropout == 0:
            return None
        return torch.randint(0, 1 << 62, [1])


class MLP(SubLayer):
    """``W_proj GELU(W_fc x + b_fc) + b_proj``, width → 4·width → width, with the exact (erf) GELU.

    x: [..., width].
    """

    def __init__(self, width: int, bias: bool = False, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        self.c_fc = nn.Linear(width, 4 * width, bias=bias)
        self.c_proj = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_scripting():
            return self.around(x, None, None, None, None, None, 1)
        elif self.has_plain_maps():
            return self.around(x, None, None, None, None, None, 1)
        else:
            return self._dropped(self.c_proj(nn.functional.gelu(self.c_fc(x))))

    @torch.jit.export
    def around(
        self,
        x: Tensor,
        norm_weight: Optional[Tensor],
        norm_bias: Optional[Tensor],
        pre: Optional[Tensor],
        post: Optional[Tensor],
        residual: Optional[Tensor],
        repeats: int,
    ) -> Tensor:
        """``residual + post · F(pre · LN(x))``."""
        fc, proj = self.c_fc, self.c_proj
        return around_mlp(
            x,
            norm_weight,
            norm_bias,
            pre,
            post,
            residual,
            repeats,
            fc.weight,
            fc.bias,
            proj.weight,
            proj.bias,
            self._drops(),
            self._key(),
        )


class Attention(SubLayer):
    """Causal softmax attention: ``W_proj softmax(q kᵀ/√(width/heads)) v``, q, k, v = W_attn x.

    x: [B, ..., width]; what is between are positions, in that order. x [B, width] has one.
    """

    def __init__(self, width: int, heads: int, bias: bool = False, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        heads = whole_number("heads", heads)
        if heads < 1 or width % heads != 0:
            raise ValueError(f"heads is {heads}; it must divide the width, which is {width}")
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.unsqueeze(1) if x.dim() == 2 else x.flatten(1, -2)
        if torch.jit.is_scripting():
            y = self.around(tokens, None, None, None, None, None, 1)
        elif self.has_plain_maps():
            y = self.around(tokens, None, None, None, None, None, 1)
        else:
            mixed = torch.ops.edelta.causal_attention(
                self.c_attn(tokens), self.heads, self._drops(), self._key(), 0
            )
            y = self._dropped(self.c_proj(mixed))
        return y.reshape(x.shape)

    @torch.jit.export
    def around(
        self,
        x: Tensor,
        norm_weight: Optional[Tensor],
        norm_bias: Optional[Tensor],
        pre: Optional[Tensor],
        post: Optional[Tensor],
        residual: Optional[Tensor],
        repeats: int,
    ) -> Tensor:
        """``residual + post · F(pre · LN(x))``."""
        tokens = x.numel() // x.size(-1)
        x, norm_weight, norm_bias, first, first_bias = enter(
            x, norm_weight, norm_bias, pre, repeats, self.c_attn.weight, self.c_attn.bias
        )
        qkv = torch.ops.edelta.linear(x, first, first_bias, norm_weight, norm_bias)
        mixed = torch.ops.edelta.causal_attention(qkv, self.heads, self._drops(), self._key(), 0)
        last, last_bias, left = leave(tokens, post, self.c_proj.weight, self.c_proj.bias, self._drops())
        inside = residual if left is None else None
        y = torch.ops.edelta.linear(
            mixed, last, last_bias, None, None, False, inside, self._drops(), self._key(), 1
        )
        if left is None:
            return y
        return torch.ops.edelta.linear(y, left, None, None, None, False, residual)

    def extra_repr(self) -> str:
        return f"heads={self.heads}"
