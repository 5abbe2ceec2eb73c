"""The residual connection as it always was."""

from typing import List, Optional

from torch import Tensor, nn

from .connection import Connection


class PlainResidual(Connection):
    """``x + F(LN x)``, to compare with.

    dim: channels. branch: the layer F. norm: in place of a LayerNorm. channels: "last" or "first".
    """

    def __init__(
        self, dim: int, branch: nn.Module, *, norm: Optional[nn.Module] = None, channels: str = "last"
    ) -> None:
        super().__init__(dim, 1, branch, norm, channels, narrow=False)

    def residual(self, x: Tensor) -> Tensor:
        return x

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        y = self._enclosed(x, None, None, x, 1)
        return x + self._layer(x, shape) if y is None else y
