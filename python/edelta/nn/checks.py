"""Checks of what connections are made with, for what PyTorch would say in other words, later, or not at all."""

import math
import operator
from typing import Optional, Tuple

from torch import nn

from .enclosed import is_linear, is_mlp


def whole_number(name: str, value: object) -> int:
    if isinstance(value, nn.Module):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}; the layer is the argument branch")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}") from None


def count(name: str, value: int) -> int:
    value = whole_number(name, value)
    if value < 0:
        raise ValueError(f"{name} is {value}; it must not be negative")
    return value


def hidden_width(hidden: int) -> int:
    hidden = whole_number("hidden", hidden)
    if hidden < 1:
        raise ValueError(f"hidden is {hidden}; it must be at least 1")
    return hidden


def finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}; it must be finite")
    return value


def _widths(branch: nn.Module) -> Optional[Tuple[int, int]]:
    """Of what goes into a layer and comes out, where that can be told without calling it."""
    if is_linear(branch):
        return branch.in_features, branch.out_features
    if is_mlp(branch):
        return branch[0].in_features, branch[2].out_features
    return None


def check_widths(branch: nn.Module, width: int) -> None:
    """That a layer takes and gives `width` channels."""
    widths = _widths(branch)
    if widths is not None and widths != (width, width):
        raise ValueError(
            f"branch takes {widths[0]} channels and gives {widths[1]}; in this connection it sees {width}, "
            "and must give as many"
        )
