"""Residual connections as modules: each wraps any nn.Module, in place of ``x + layer(norm(x))``.

- ``HybridResidual``        EΔ: rotation and reflection of streams, joined by a gate
- ``HybridStreamResidual``  the same with routed streams and a layer of width dim/streams
- ``DeltaResidual``         DDL: a rank-one operator with learned β
- ``MHCResidual``           mHC: streams mixed by doubly stochastic matrices
- ``JPMHCResidual``         JPmHC: streams mixed by nearly orthogonal matrices, a layer of width dim/streams
- ``PlainResidual``         ``x + layer(norm(x))`` itself, to compare with
- ``Attention``, ``MLP``    the transformer's layers; inside a connection they are computed with their norm, residual
  and projections in one pass, as are an nn.Linear and an nn.Sequential of Linear, GELU, Linear with channels last
"""

from .connection import Connection, Operators
from .delta import DeltaResidual
from .hybrid import HybridResidual, HybridStreamResidual
from .jpmhc import JPMHCResidual
from .mhc import MHCResidual
from .norm import LayerNorm
from .plain import PlainResidual
from .sublayers import MLP, Attention

__all__ = [
    "Attention",
    "Connection",
    "DeltaResidual",
    "HybridResidual",
    "HybridStreamResidual",
    "JPMHCResidual",
    "LayerNorm",
    "MHCResidual",
    "MLP",
    "Operators",
    "PlainResidual",
]
