"""EΔ: the residual stream goes through a rotation and a reflection of its streams, joined by a gate."""

import warnings
from typing import Final, List, Optional, Tuple

import torch
from torch import Tensor, nn

from .. import functional
from .checks import finite, hidden_width
from .connection import Connection
from .enclosed import matrix_of
from .generators import FixedGenerator, JointGenerator, NetGenerator
from .nets import check_pool, pooled
from .router import Router

_GEODESIC_GATE_BIAS = 4.0


class _Geometric(Connection):
    """The operator G_γ of both hybrids: pool, generate, blend, mix."""

    has_operator: Final[bool]
    is_gated: Final[bool]

    def __init__(
        self,
        dim: int,
        streams: int,
        branch: Optional[nn.Module],
        norm: Optional[nn.Module],
        channels: str,
        narrow: bool,
        pool: str,
        operator: str,
        blend: Optional[str],
        field: str,
        operator_init: str,
        gate_weight: Optional[float],
        regulariser: str,
        gate_gradient: str,
    ) -> None:
        super().__init__(dim, streams, branch, norm, channels, narrow)
        check_pool(pool)
        blend = blend or ("geodesic" if field == "complex" else "linear")
        for name, value, known in (
            ("operator", operator, ("hybrid", "cayley", "householder", "none")),
            ("blend", blend, ("linear", "hard", "geodesic")),
            ("field", field, ("real", "complex")),
            ("operator_init", operator_init, ("normal", "live")),
            ("regulariser", regulariser, ("product", "entropy", "squared-product", "min-distance")),
            ("gate_gradient", gate_gradient, ("all", "gate")),
        ):
            if value not in known:
                raise ValueError(f"{name} is '{value}'; it must be one of: {', '.join(known)}")
        if field == "complex" and (blend != "geodesic" or streams % 2 != 0):
            raise ValueError("over the complex field the blend must be geodesic and streams even")
        if blend == "geodesic" and operator == "hybrid" and streams < 2:
            raise ValueError("the geodesic blend needs at least two streams")
        self.pool = pool
        self.operator = operator
        self.blend = blend
        self.field = field
        self.starts_live = operator_init == "live"
        self.has_operator = operator != "none"
        self.is_gated = operator == "hybrid"
        # The geodesic blend is orthogonal for every γ: nothing needs to push its gate off ½.
        usual_weight = 0.0 if blend == "geodesic" else 0.1
        self.gate_weight = usual_weight if gate_weight is None else finite("gate_weight", gate_weight)
        if self.gate_weight < 0:
            raise ValueError(f"gate_weight is {gate_weight}; it must not be negative")
        self.regulariser = regulariser
        self.gate_gradient = gate_gradient

    def _generator(
        self, kind: str, joint: bool, hidden: int, gate_bias: Optional[float], std: float
    ) -> Optional[nn.Module]:
        if kind not in ("data", "fixed"):
            raise ValueError(f"generator is '{kind}'; it must be data or fixed")
        if not self.has_operator:
            return None
        usual_bias = _GEODESIC_GATE_BIAS if self.blend == "geodesic" else 0.0
        bias = usual_bias if gate_bias is None else finite("gate_bias", gate_bias)
        if kind == "fixed":
            return FixedGenerator(self.streams, self.operator, self.starts_live, bias, std)
        make = JointGenerator if joint else NetGenerator
        return make(self.dim, self.streams, hidden, self.operator, self.starts_live, bias, std)

    def _matrices(self, row: Tensor) -> Tuple[Tensor, Tensor, Optional[Tensor]]:
        """From a generator's row the operator, the one whose gradient it has, and γ."""
        n = self.streams
        if self.operator == "householder":
            h = functional.householder(row, None, self.field)
            return h, h, None
        u, v = row.narrow(-1, 0, n), row.narrow(-1, n, n)
        beta = nn.functional.softplus(row.narrow(-1, 2 * n, 1))
        if self.operator == "cayley":
            q = functional.cayley(u, v, beta, None, self.field)
            return q, q, None
        k = row.narrow(-1, 2 * n + 1, n)
        gamma = row.narrow(-1, 3 * n + 1, 1).sigmoid()
        if self.blend != "hard":
            g = functional.hybrid(u, v, beta, k, gamma, None, self.blend, self.field)
            return g, g, gamma
        decided = (gamma.detach() > 0.5).to(gamma.dtype)
        value = torch.ops.edelta.hybrid_matrix(u.detach(), v.detach(), beta.detach(), k.detach(), decided)
        return value, torch.ops.edelta.hybrid_matrix(u, v, beta, k, gamma), gamma

    def residual(self, x: Tensor) -> Tensor:
        if self.has_operator:
            seen = pooled(x, self.pool)
            value, gradient, gamma = self._matrices(self.geo(seen))
            if self.is_gated and self.gate_gradient == "gate":
                gamma = self.geo(seen.detach())[..., -1:].sigmoid()
            self._see(gamma, value)
            if self.blend == "hard":
                return torch.ops.edelta.stream_mix_straight_through(value, gradient, x)
            return torch.ops.edelta.stream_mix(value, x)
        else:
            return x

    @torch.jit.unused
    def gate_loss(self) -> Tensor:
        """``λ · mean R(γ)`` of the last forward pass, λ = gate_weight, R = regulariser; 0 without a gate."""
        if not self.is_gated:
            return torch.zeros(())
        if self._seen.gamma is None:
            raise RuntimeError("there is no gate to look at before the first forward pass")
        learns = any(p.requires_grad for p in self.geo.parameters())
        if self.training and torch.is_grad_enabled() and learns and not self._seen.gamma.requires_grad:
            warnings.warn(
                "the last forward pass kept no gradients, so the gate's penalty will train nothing; "
                "with torch.utils.checkpoint, pass use_reentrant=False",
                stacklevel=2,
            )
        return functional.gate_loss(self._seen.gamma, self.gate_weight, self.regulariser)

    def extra_repr(self) -> str:
        return (
            f"{super().extra_repr()}, pool={self.pool}, operator={self.operator}, blend={self.blend}, "
            f"field={self.field}, gate_weight={self.gate_weight}"
        )


class HybridResidual(_Geometric):
    """EΔ around any layer F, in place of ``x + F(LN x)``.

    ``g = G_γ x,  y = g + H_post F(H_pre LN(g))``

    A token's dim numbers are n = streams rows of d = dim/n. G_γ = γ Q + (1 − γ) H mixes these rows: Q is a Cayley
    rotation, H a Householder reflection (``edelta.functional.hybrid``), both made from the mean of the input, x̄, by
    small nets. H_pre and H_post are dim × dim.

    dim             channels of x
    streams         n; it divides dim
    branch          the layer F: any nn.Module that keeps the shape of its input
    pool            what the nets look at: "prefix" (the mean over positions ≤ t; causal), "token" (the position itself;
                    causal), "sequence" (the mean over all positions: one operator a sequence, which sees the future)
    blend           how Q and H are joined: "linear", "hard" or "geodesic" (see functional.hybrid)
    field           "real", or "complex": streams in pairs, unitary operators
    operator        "hybrid", "cayley" (Q alone), "householder" (H alone) or "none"
    generator       "data", or "fixed": learned vectors in place of nets
    hidden          hidden width of the nets; dim/4 by default
    projections     whether there are H_pre and H_post; or "pre" or "post" for one of them
    projection_factors  how many matrices each of them is a product of
    projection_init "normal" (N(0, init_std²), as published) or "identity"
    gate_bias       of the gate at the start: 0, or 4 with the geodesic blend, which is the rotation
    operator_init   "normal", as published: a rotation begins next to the identity, where its gradient is next to nothing;
                    or "live": it turns, and learns, from the start
    gate_weight     λ of gate_loss(): 0.1, or 0 with the geodesic blend
    regulariser     "product", "entropy", "squared-product" or "min-distance"
    gate_gradient   "all", or "gate": the regulariser does not reach the features
    norm            in place of a LayerNorm over channels: any module in the layout of x, nn.Identity() for none
    channels        "last", x [B, ..., dim], or "first", x [B, dim, ...]
    """

    def __init__(
        self,
        dim: int,
        streams: int = 4,
        branch: Optional[nn.Module] = None,
        pool: str = "prefix",
        blend: Optional[str] = None,
        *,
        field: str = "real",
        operator: str = "hybrid",
        generator: str = "data",
        hidden: Optional[int] = None,
        projections: object = True,
        projection_factors: int = 1,
        projection_init: str = "normal",
        operator_init: str = "normal",
        gate_bias: Optional[float] = None,
        gate_weight: Optional[float] = None,
        regulariser: str = "product",
        gate_gradient: str = "all",
        init_std: float = 0.02,
        norm: Optional[nn.Module] = None,
        channels: str = "last",
    ) -> None:
        super().__init__(
            dim,
            streams,
            branch,
            norm,
            channels,
            False,
            pool,
            operator,
            blend,
            field,
            operator_init,
            gate_weight,
            regulariser,
            gate_gradient,
        )
        if projections not in (True, False, "pre", "post"):
            raise ValueError(f"projections is {projections!r}; it must be True, False, 'pre' or 'post'")
        if projection_init not in ("normal", "identity"):
            raise ValueError(f"projection_init is '{projection_init}'; it must be normal or identity")
        if projection_factors < 1:
            raise ValueError(f"projection_factors is {projection_factors}; it must be at least 1")
        hidden = hidden_width(max(dim // 4, 1) if hidden is None else hidden)
        self.geo = self._generator(generator, False, hidden, gate_bias, init_std)

        def maps(wanted: bool) -> nn.ModuleList:
            factors = [nn.Linear(dim, dim, bias=False) for _ in range(projection_factors if wanted else 0)]
            for factor in factors:
                if projection_init == "identity":
                    nn.init.eye_(factor.weight)
                else:
                    nn.init.normal_(factor.weight, 0.0, init_std)
            return nn.ModuleList(factors)

        self.h_pre = maps(projections in (True, "pre"))
        self.h_post = maps(projections in (True, "post"))

    def _pre(self) -> Optional[Tensor]:
        product: Optional[Tensor] = None
        for factor in self.h_pre:
            if torch.jit.is_scripting():
                matrix = factor.weight
            else:
                matrix = matrix_of(factor)
            product = matrix if product is None else matrix.matmul(product)
        return product

    def _post(self) -> Optional[Tensor]:
        product: Optional[Tensor] = None
        for factor in self.h_post:
            if torch.jit.is_scripting():
                matrix = factor.weight
            else:
                matrix = matrix_of(factor)
            product = matrix if product is None else matrix.matmul(product)
        return product

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        g = self.residual(x)
        post = self._post()
        enclosed = self._enclosed(g, self._pre(), post, g, 1)
        if enclosed is not None:
            return enclosed
        y = self._projected_layer(g, shape)
        return g + y if post is None else torch.ops.edelta.linear(y, post, None, None, None, False, g)

    def _projected_layer(self, x: Tensor, shape: List[int]) -> Tensor:
        """``F(H_pre LN x)`` of tokens."""
        pre = self._pre()
        if pre is None:
            return self._layer(x, shape)
        if self.own_norm and self._norm_is_bare():
            inner = torch.ops.edelta.linear(x, pre, None, self.norm.weight, self.norm.bias)
        elif self.own_norm:
            inner = torch.ops.edelta.linear(self.norm(x), pre)
        else:
            normed = self._as_tokens(self.norm(self._from_tokens(x, shape)), x, shape)
            inner = torch.ops.edelta.linear(normed, pre)
        return self._as_tokens(self.branch(self._from_tokens(inner, shape)), x, shape)


class HybridStreamResidual(_Geometric):
    """Streamed EΔ around a layer F of width d = dim/streams.

    ``g = G_γ x,  y = F(LN(mean_i (H_pre g)_i)),  x'_i = g_i + (H_post (y, …, y))_i``

    G_γ as in HybridResidual, made by one joint net; H_pre (rows through softmax) and H_post (columns through softmax)
    are n×n matrices made from each token, a router. The layer sees d channels.

    hidden: hidden width of the joint net, 16 by default. The other options are HybridResidual's.
    """

    def __init__(
        self,
        dim: int,
        streams: int = 4,
        branch: Optional[nn.Module] = None,
        pool: str = "prefix",
        blend: Optional[str] = None,
        *,
        field: str = "real",
        operator: str = "hybrid",
        generator: str = "data",
        hidden: int = 16,
        projection_init: str = "normal",
        operator_init: str = "normal",
        gate_bias: Optional[float] = None,
        gate_weight: Optional[float] = None,
        regulariser: str = "product",
        gate_gradient: str = "all",
        init_std: float = 0.02,
        norm: Optional[nn.Module] = None,
        channels: str = "last",
    ) -> None:
        super().__init__(
            dim,
            streams,
            branch,
            norm,
            channels,
            True,
            pool,
            operator,
            blend,
            field,
            operator_init,
            gate_weight,
            regulariser,
            gate_gradient,
        )
        self.geo = self._generator(generator, True, hidden_width(hidden), gate_bias, init_std)
        self.router = Router(dim, streams, 2, "proj", projection_init, init_std)

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        g = self.residual(x)
        routed = self.router(g)
        y = self._enclosed(routed[0], None, None, None, 1)
        if y is None:
            y = self._layer(routed[0], shape)
        return torch.ops.edelta.stream_update(None, g, routed[1], y)
