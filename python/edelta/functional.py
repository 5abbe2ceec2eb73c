"""The operators alone. Every function is differentiable and takes any floating dtype.

u, v and k are [..., n]; beta, gamma are [..., 1]; leading dimensions broadcast. An operator on n streams is an n×n
matrix that multiplies x [..., n, d] from the left. Give x to apply it in O(n·d) without making the matrix.
"""

from typing import Optional

import torch
from torch import Tensor

__all__ = [
    "cayley",
    "delta",
    "entropy",
    "gate_loss",
    "householder",
    "hybrid",
    "iterative_cayley",
    "min_distance",
    "prefix_mean",
    "product",
    "sequence_mean",
    "sinkhorn",
    "squared_product",
    "stream_aggregate",
    "stream_mix",
    "stream_update",
    "unit_direction",
]


def cayley(u: Tensor, v: Tensor, beta: Tensor, x: Optional[Tensor] = None, field: str = "real") -> Tensor:
    """The data-dependent Cayley rotation Q, or Q x.

    ``A = u vᵀ − v uᵀ,  M = (β/2) A,  Q = (I + M)⁻¹ (I − M) = I − 2/(1+s) · (M − M²),  s = ½‖M‖²``

    Orthogonal with determinant +1 for every u, v and β; it turns the plane of u and v by ``2·atan(√s)`` and never has
    the eigenvalue −1. With ``field="complex"`` numbers 2j and 2j+1 are the parts of one complex number and Q is
    unitary, as a real matrix.

    u, v: [..., n]; beta: [..., 1]; x: [..., n, d]. Returns [..., n, n], or [..., n, d] with x.
    """
    _check_field(field)
    if field == "complex":
        if x is None:
            return torch.ops.edelta.unitary_rotation_matrix(u, v, beta)
        return torch.ops.edelta.unitary_rotate(u, v, beta, x)
    if x is None:
        return torch.ops.edelta.cayley_matrix(u, v, beta)
    return torch.ops.edelta.cayley_rotate(u, v, beta, x)


def householder(k: Tensor, x: Optional[Tensor] = None, field: str = "real") -> Tensor:
    """The Householder reflection H, or H x.

    ``H = I − 2 k kᵀ/|k|²``

    Orthogonal with determinant −1; k = 0 gives the identity, with zero gradient. With ``field="complex"`` it is
    ``I − 2 k k*/|k|²`` over complex numbers, 2j and 2j+1 being the parts of one.

    k: [..., n]; x: [..., n, d]. Returns [..., n, n], or [..., n, d] with x.
    """
    _check_field(field)
    if field == "complex":
        if x is None:
            return torch.ops.edelta.unitary_reflection_matrix(k)
        return torch.ops.edelta.unitary_turn(k, torch.zeros_like(k[..., :1]), x)
    if x is None:
        return torch.ops.edelta.householder_matrix(k)
    return torch.ops.edelta.householder_reflect(k, x)


def hybrid(
    u: Tensor,
    v: Tensor,
    beta: Tensor,
    k: Tensor,
    gamma: Tensor,
    x: Optional[Tensor] = None,
    blend: str = "linear",
    field: str = "real",
) -> Tensor:
    """The hybrid operator G that joins the rotation Q and the reflection H, or G x.

    - ``blend="linear"``:    ``G = γ Q + (1 − γ) H``; orthogonal at γ = 0 and γ = 1 only.
    - ``blend="hard"``:      G is Q where γ > ½ and H elsewhere, with the gradient of the linear blend
      (straight-through): exactly orthogonal. With x, its gradient too is that of the linear blend.
    - ``blend="geodesic"``:  ``G = R_φ Q``, ``R_φ = I + (cos φ − 1)(k kᵀ + a aᵀ) + sin φ (a kᵀ − k aᵀ)``,
      ``φ = π(1 − γ)``, a the unit part of u orthogonal to k: a rotation for every γ.

    With ``field="complex"`` G is ``P_φ Q`` with ``P_φ = I + (e^{iφ} − 1) k k*``, unitary for every γ; its blend is
    geodesic.

    u, v, k: [..., n]; beta, gamma: [..., 1]; x: [..., n, d]. Returns [..., n, n], or [..., n, d] with x.
    """
    _check_field(field)
    if blend not in ["linear", "hard", "geodesic"]:
        raise ValueError(f"blend is '{blend}'; it must be linear, hard or geodesic")
    if field == "complex":
        if blend != "geodesic":
            raise ValueError("over the complex field the blend must be geodesic")
        if x is None:
            return torch.ops.edelta.unitary_matrix(u, v, beta, k, gamma)
        return torch.ops.edelta.unitary_turn(k, gamma, torch.ops.edelta.unitary_rotate(u, v, beta, x))
    if blend == "geodesic":
        if x is None:
            return torch.ops.edelta.geodesic_matrix(u, v, beta, k, gamma)
        return torch.ops.edelta.geodesic_turn(u, k, gamma, torch.ops.edelta.cayley_rotate(u, v, beta, x))
    if x is not None:
        rotated = torch.ops.edelta.cayley_rotate(u, v, beta, x)
        reflected = torch.ops.edelta.householder_reflect(k, x)
        weight = gamma.unsqueeze(-1)
        joined = weight * rotated + (1 - weight) * reflected
        if blend == "linear":
            return joined
        chosen = torch.where(weight > 0.5, rotated, reflected).detach()
        return chosen + (joined - joined.detach())
    linear = torch.ops.edelta.hybrid_matrix(u, v, beta, k, gamma)
    if blend == "linear":
        return linear
    decided = (gamma.detach() > 0.5).to(gamma.dtype)
    hard = torch.ops.edelta.hybrid_matrix(u.detach(), v.detach(), beta.detach(), k.detach(), decided)
    # The value of the one, the gradient of the other: what is added is exactly zero.
    return hard + (linear - linear.detach())


def delta(k: Tensor, beta: Tensor, x: Tensor) -> Tensor:
    """DDL's operator along the last dimension: ``x − β k (kᵀx)/|k|²``. Orthogonal for β ∈ {0, 2} only.

    k, x: [..., D]; beta: [..., 1].
    """
    return torch.ops.edelta.delta(k, beta, x)


def sinkhorn(z: Tensor, iterations: int = 20) -> Tensor:
    """mHC's mixer: ``exp(Z)``, then alternately rows and columns divided by their sum + 1e-8.

    Approximately doubly stochastic. z: [..., n, n].
    """
    return torch.ops.edelta.sinkhorn(z, iterations)


def iterative_cayley(z: Tensor, alpha: float = 0.1, iterations: int = 2) -> Tensor:
    """JPmHC's mixer: ``W = Z − Zᵀ,  Y₀ = I + αW,  Y ← I + (α/2) W (I + Y)``.

    Approximately orthogonal: a truncated fixed-point iteration for a Cayley transform. z: [..., n, n].
    """
    return torch.ops.edelta.iterative_cayley(z, alpha, iterations)


def stream_mix(g: Tensor, x: Tensor) -> Tensor:
    """``G x`` with a token's D = n·d numbers seen as an n×d matrix.

    g: [B, 1 or T, n, n], one operator a sequence or a token; x: [B, T, n·d].
    """
    return torch.ops.edelta.stream_mix(g, x)


def stream_aggregate(w: Tensor, x: Tensor) -> Tensor:
    """``Σᵢ wᵢ xᵢ`` over the streams: w [B, T, n], x [B, T, n·d] → [B, T, d]."""
    return torch.ops.edelta.stream_aggregate(w, x)


def stream_update(h: Optional[Tensor], x: Tensor, w: Tensor, y: Tensor) -> Tensor:
    """``x'ᵢ = (H x)ᵢ + wᵢ yᵢ``; without h the identity.

    h: [B, T, n, n]; x: [B, T, n·d]; w: [B, T, n]; y: [B, T, n·d], or [B, T, d] for all streams.
    """
    return torch.ops.edelta.stream_update(h, x, w, y)


def prefix_mean(x: Tensor) -> Tensor:
    """``x̄_t = (1/t) Σ_{s ≤ t} x_s``: what a causal operator looks at. x: [B, T, D]; summed in float64."""
    return torch.ops.edelta.prefix_mean(x)


def sequence_mean(x: Tensor) -> Tensor:
    """``x̄ = (1/T) Σ_t x_t``, [B, T, D] → [B, 1, D]. Position t sees what comes after it: it is not causal."""
    return torch.ops.edelta.sequence_mean(x)


def unit_direction(k: Tensor) -> Tensor:
    """``k/|k|``, of length 1 for every k ≠ 0 however small; 0 for k = 0."""
    return torch.ops.edelta.unit_direction(k)


def product(gamma: Tensor) -> Tensor:
    """The paper's gate penalty, ``4γ(1 − γ)``: 1 at γ = ½, 0 at a decision."""
    return torch.ops.edelta.gate_penalty(gamma, "product")


def entropy(gamma: Tensor) -> Tensor:
    """The gate penalty ``−γ ln γ − (1 − γ) ln(1 − γ)``."""
    return torch.ops.edelta.gate_penalty(gamma, "entropy")


def squared_product(gamma: Tensor) -> Tensor:
    """The gate penalty ``[γ(1 − γ)]²``."""
    return torch.ops.edelta.gate_penalty(gamma, "squared-product")


def min_distance(gamma: Tensor) -> Tensor:
    """The gate penalty ``min(γ², (1 − γ)²)``: not smooth at ½."""
    return torch.ops.edelta.gate_penalty(gamma, "min-distance")


def gate_loss(gamma: Tensor, weight: float = 0.1, regulariser: str = "product") -> Tensor:
    """``λ · mean R(γ)``, R being "product", "entropy", "squared-product" or "min-distance". gamma: any shape."""
    return weight * torch.ops.edelta.gate_penalty(gamma, regulariser).mean()


def _check_field(field: str) -> None:
    if field not in ["real", "complex"]:
        raise ValueError(f"field is '{field}'; it must be real or complex")
