"""The layers F of a transformer, attention and MLP, with what a connection puts around them."""

from typing import Optional, Tuple

import torch
from torch import Tensor, nn

from .._library import folds_maps


def _product(outer: Tensor, inner: Tensor) -> Tensor:
    return torch.ops.edelta.linear(outer, inner.t())


def _folding_pays(tokens: int, other_width: int) -> bool:
    """Whether a D×D map is to be multiplied into its neighbour of that other width: only many tokens repay it."""
    return folds_maps() and tokens > other_width


class SubLayer(nn.Module):
    """A first and a last linear map with something between them.

    ``residual + post · F(pre · LN(x))`` is computed in one pass by ``around``; every part may be absent. Maps that stand
    next to each other are multiplied into one where that is less work.
    """

    def __init__(self, dropout: float) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}; it must be at least 0 and below 1")
        self.dropout = dropout

    def _drops(self) -> float:
        return self.dropout if self.training else 0.0

    def _key(self) -> Optional[Tensor]:
        if not self.training or self.dropout == 0:
            return None
        return torch.randint(0, 1 << 62, [1])

    def _enter(
        self,
        x: Tensor,
        norm_weight: Optional[Tensor],
        norm_bias: Optional[Tensor],
        pre: Optional[Tensor],
        repeats: int,
        weight: Tensor,
        bias: Optional[Tensor],
    ) -> Tuple[Tensor, Optional[Tensor], Optional[Tensor], Tensor, Optional[Tensor]]:
        """``first ∘ pre ∘ LN`` as input, norm and map for the op that starts with them."""
        if repeats > 1 and norm_weight is not None and pre is None and folds_maps():
            # n equal streams have the mean and variance of one: the map sees the same numbers n times.
            folded = (weight * norm_weight).view(weight.size(0), repeats, -1).sum(1)
            if norm_bias is not None:
                shift = torch.mv(weight, norm_bias)
                bias = shift if bias is None else bias + shift
            return x, torch.ones_like(folded[0]).detach(), None, folded, bias
        if repeats > 1:
            x = x.repeat([1, 1, repeats])
        if pre is None:
            return x, norm_weight, norm_bias, weight, bias
        if _folding_pays(x.numel() // x.size(-1), weight.size(0)):
            return x, norm_weight, norm_bias, _product(weight, pre), bias
        return torch.ops.edelta.linear(x, pre, None, norm_weight, norm_bias), None, None, weight, bias

    def _leave(
        self, tokens: int, post: Optional[Tensor], weight: Tensor, bias: Optional[Tensor]
    ) -> Tuple[Tensor, Optional[Tensor], Optional[Tensor]]:
        """``post ∘ last`` as map, and post where it is still to be applied. Nothing folds across a dropout mask."""
        if post is None:
            return weight, bias, None
        if self._drops() == 0 and _folding_pays(tokens, weight.size(1)):
            return _product(post, weight), None if bias is None else torch.mv(post, bias), None
        return weight, bias, post


class MLP(SubLayer):
    """``W_proj GELU(W_fc x + b_fc) + b_proj``, width → 4·width → width, with the exact (erf) GELU.

    x: [B, T, width].
    """

    def __init__(self, width: int, bias: bool = False, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        self.c_fc = nn.Linear(width, 4 * width, bias=bias)
        self.c_proj = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.around(x, None, None, None, None, None, 1)

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
        x, norm_weight, norm_bias, first, first_bias = self._enter(
            x, norm_weight, norm_bias, pre, repeats, self.c_fc.weight, self.c_fc.bias
        )
        last, last_bias, left = self._leave(tokens, post, self.c_proj.weight, self.c_proj.bias)
        y = torch.ops.edelta.mlp(
            x,
            first,
            first_bias,
            last,
            last_bias,
            norm_weight,
            norm_bias,
            residual if left is None else None,
            self._drops(),
            self._key(),
            0,
        )
        if left is None:
            return y
        return torch.ops.edelta.linear(y, left, None, None, None, False, residual)


class Attention(SubLayer):
    """Causal softmax attention: ``W_proj softmax(q kᵀ/√(width/heads)) v``, q, k, v = W_attn x.

    x: [B, T, width].
    """

    def __init__(self, width: int, heads: int, bias: bool = False, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        if width % heads != 0:
            raise ValueError(f"heads is {heads}; it must divide the width, which is {width}")
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.around(x, None, None, None, None, None, 1)

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
        x, norm_weight, norm_bias, first, first_bias = self._enter(
            x, norm_weight, norm_bias, pre, repeats, self.c_attn.weight, self.c_attn.bias
        )
        qkv = torch.ops.edelta.linear(x, first, first_bias, norm_weight, norm_bias)
        mixed = torch.ops.edelta.causal_attention(qkv, self.heads, self._drops(), self._key(), 0)
        last, last_bias, left = self._leave(tokens, post, self.c_proj.weight, self.c_proj.bias)
        y = torch.ops.edelta.linear(
            mixed,
            last,
            last_bias,
            None,
            None,
            False,
            residual if left is None else None,
            self._drops(),
            self._key(),
            1,
        )
        if left is None:
            return y
        return torch.ops.edelta.linear(y, left, None, None, None, False, residual)

    def extra_repr(self) -> str:
        return f"heads={self.heads}"
