"""``residual + post · F(pre · LN(x))`` in one pass, for layers F that begin and end with a linear map.

H_pre and H_post stand next to linear maps with nothing in between: where that is less work, the matrices are multiplied
once, and every token sees one map instead of two. Every part may be absent.
"""

from typing import Optional, Tuple

import torch
from torch import Tensor, nn

from .._library import folds_maps


def _product(outer: Tensor, inner: Tensor) -> Tensor:
    return torch.ops.edelta.linear(outer, inner.t())


def _folding_pays(tokens: int, other_width: int) -> bool:
    """Whether a D×D map is to be multiplied into its neighbour of that other width: only many tokens repay it."""
    return folds_maps() and tokens > other_width


def enter(
    x: Tensor,
    norm_weight: Optional[Tensor],
    norm_bias: Optional[Tensor],
    pre: Optional[Tensor],
    repeats: int,
    weight: Tensor,
    bias: Optional[Tensor],
) -> Tuple[Tensor, Optional[Tensor], Optional[Tensor], Tensor, Optional[Tensor]]:
    """``first ∘ pre ∘ LN`` as input, norm and map for the op that starts with them; x is repeated to its width."""
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


def leave(
    tokens: int, post: Optional[Tensor], weight: Tensor, bias: Optional[Tensor], dropout: float
) -> Tuple[Tensor, Optional[Tensor], Optional[Tensor]]:
    """``post ∘ last`` as map, and post where it is still to be applied. Nothing folds across a dropout mask."""
    if post is None:
        return weight, bias, None
    if dropout == 0 and _folding_pays(tokens, weight.size(1)):
        return _product(post, weight), None if bias is None else torch.mv(post, bias), None
    return weight, bias, post


def around_linear(
    x: Tensor,
    norm_weight: Optional[Tensor],
    norm_bias: Optional[Tensor],
    pre: Optional[Tensor],
    post: Optional[Tensor],
    residual: Optional[Tensor],
    repeats: int,
    weight: Tensor,
    bias: Optional[Tensor],
) -> Tensor:
    """F(x) = W x + b."""
    tokens = x.numel() // x.size(-1)
    weight, bias, left = leave(tokens, post, weight, bias, 0.0)
    x, norm_weight, norm_bias, weight, bias = enter(x, norm_weight, norm_bias, pre, repeats, weight, bias)
    if left is None:
        return torch.ops.edelta.linear(x, weight, bias, norm_weight, norm_bias, False, residual)
    y = torch.ops.edelta.linear(x, weight, bias, norm_weight, norm_bias)
    return torch.ops.edelta.linear(y, left, None, None, None, False, residual)


def around_mlp(
    x: Tensor,
    norm_weight: Optional[Tensor],
    norm_bias: Optional[Tensor],
    pre: Optional[Tensor],
    post: Optional[Tensor],
    residual: Optional[Tensor],
    repeats: int,
    fc_weight: Tensor,
    fc_bias: Optional[Tensor],
    proj_weight: Tensor,
    proj_bias: Optional[Tensor],
    dropout: float,
    key: Optional[Tensor],
) -> Tensor:
    """F(x) = W_proj GELU(W_fc x + b_fc) + b_proj."""
    tokens = x.numel() // x.size(-1)
    x, norm_weight, norm_bias, first, first_bias = enter(x, norm_weight, norm_bias, pre, repeats, fc_weight, fc_bias)
    last, last_bias, left = leave(tokens, post, proj_weight, proj_bias, dropout)
    inside = residual if left is None else None
    y = torch.ops.edelta.mlp(
        x, first, first_bias, last, last_bias, norm_weight, norm_bias, inside, dropout, key, 0
    )
    if left is None:
        return y
    return torch.ops.edelta.linear(y, left, None, None, None, False, residual)


def is_bare(module: nn.Module) -> bool:
    """Nobody listens to its calls, and it has no forward of its own."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return "forward" not in vars(module) and not any(getattr(module, kind, None) for kind in kinds)


def is_linear(branch: nn.Module) -> bool:
    """Whether a layer is PyTorch's own Linear and nothing more, so that its weights may be used in its place."""
    return type(branch) is nn.Linear and is_bare(branch)


def is_mlp(branch: nn.Module) -> bool:
    """Whether a layer is Linear, exact GELU, Linear in a Sequential, and nothing more."""
    return (
        type(branch) is nn.Sequential
        and len(branch) == 3
        and is_bare(branch)
        and is_linear(branch[0])
        and type(branch[1]) is nn.GELU
        and branch[1].approximate == "none"
        and is_bare(branch[1])
        and is_linear(branch[2])
    )


@torch.jit.ignore
def matrix_of(linear: nn.Module) -> Tensor:
    """The matrix of a map without a bias. One that is no longer PyTorch's own Linear, because it is pruned, say, is
    asked what it makes of the identity."""
    weight: Tensor = linear.weight
    if is_linear(linear):
        return weight
    made: Tensor = linear(torch.eye(weight.size(1), dtype=weight.dtype, device=weight.device))
    return made.t()
