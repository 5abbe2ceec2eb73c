"""What every connection has: its layout, its layer and norm, and a look at its operators."""

import math
from dataclasses import dataclass
from typing import Any, Final, List, Optional

import torch
from torch import Tensor, nn

from .checks import check_widths, whole_number
from .enclosed import around_linear, around_mlp, is_bare, is_linear, is_mlp
from .norm import LayerNorm
from .sublayers import SubLayer


@dataclass
class Operators:
    """What a connection's residual operators do.

    matrix               the operators H_res themselves, [B, 1 or T, n, n]; None where they act on the whole width (DDL)
    gamma                the gate, [B, 1 or T, 1]; None without one
    determinant          [B, 1 or T]
    angles               of the eigenvalues, sorted, [B, 1 or T, n]: 0 leaves a direction alone, ±π negates it
    singular_values      [B, 1 or T, n]: 1 keeps lengths; one near 0 means that a direction is lost
    orthogonality_error  ‖GᵀG − I‖ at its largest
    applied              |G x − x|/|x|: 0 would mean that the operator does nothing; None without x
    stream_cosine        the mean cosine between a token's streams after the operator: 1 means that they have collapsed
                         into one direction (a stream that is zero has no part in it); None without x
    gradient_norm        of the operator's parameters, after a backward pass: 0 would mean that it does not learn;
                         None before

    Of operators that are not finite there are matrix and gamma alone, and an orthogonality error of nan.
    """

    matrix: Optional[Tensor] = None
    gamma: Optional[Tensor] = None
    determinant: Optional[Tensor] = None
    angles: Optional[Tensor] = None
    singular_values: Optional[Tensor] = None
    orthogonality_error: Optional[float] = None
    applied: Optional[float] = None
    stream_cosine: Optional[float] = None
    gradient_norm: Optional[float] = None

    def __str__(self) -> str:
        def span(name: str, values: Optional[Tensor]) -> Optional[str]:
            if values is None:
                return None
            return f"{name} {values.min().item():.3f} to {values.max().item():.3f}"

        def number(name: str, value: Optional[float]) -> Optional[str]:
            return None if value is None else f"{name} {value:.3g}"

        parts = [
            span("gamma", self.gamma),
            span("determinant", self.determinant),
            span("angles", self.angles),
            span("singular values", self.singular_values),
            number("orthogonality error", self.orthogonality_error),
            number("applied", self.applied),
            number("stream cosine", self.stream_cosine),
            number("gradient norm", self.gradient_norm),
        ]
        return ", ".join(part for part in parts if part is not None)


class _Seen:
    """What the last pass left: γ with its gradient, and the operator. Beside the module, not in it: an exported graph
    may not change a module."""

    def __init__(self) -> None:
        self.gamma: Optional[Tensor] = None
        self.matrix: Optional[Tensor] = None

    def __reduce__(self) -> tuple:
        # It belongs to the graph of its pass, and is no part of a copy.
        return _Seen, ()


class Connection(nn.Module):
    """A residual connection around a layer.

    It takes the place of ``x + layer(norm(x))``: channels last, x [B, ..., dim], or first, x [B, dim, ...]. What is
    between batch and channels, or after them, are positions, in that order; x [B, dim] has one. The layer sees the
    layout of x.

    Subclasses have ``connect``, their formula, and ``residual``, their operator alone.
    """

    channels_first: Final[bool]
    own_norm: Final[bool]
    encloses: Final[bool]
    around_mlp: Final[bool]
    around_linear: Final[bool]

    def __init_subclass__(cls) -> None:
        # TorchScript looks at the annotations of one class alone.
        chain = [base for base in reversed(cls.__mro__) if issubclass(base, Connection)]
        cls.__annotations__ = {k: v for base in chain for k, v in base.__dict__.get("__annotations__", {}).items()}

    def __init__(
        self,
        dim: int,
        streams: int,
        branch: Optional[nn.Module],
        norm: Optional[nn.Module],
        channels: str,
        narrow: bool,
    ) -> None:
        """narrow: the layer sees dim/streams channels in place of dim."""
        super().__init__()
        dim, streams = whole_number("dim", dim), whole_number("streams", streams)
        if branch is None:
            raise TypeError("branch is missing: the layer that the connection is around")
        for name, part in (("branch", branch), ("norm", norm)):
            if part is not None and not isinstance(part, nn.Module):
                raise TypeError(f"{name} must be an nn.Module, not {type(part).__name__}")
        if dim < 1 or streams < 1 or dim % streams != 0:
            raise ValueError(f"streams is {streams}; it must divide dim, which is {dim}")
        if channels not in ("last", "first"):
            raise ValueError(f"channels is '{channels}'; it must be last or first")
        layer_width = dim // streams if narrow else dim
        check_widths(branch, layer_width)
        self.dim = dim
        self.streams = streams
        self.channels_first = channels == "first"
        self.norm = LayerNorm(layer_width) if norm is None else norm
        self.branch = branch
        self._seen = _Seen()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("norm", "branch") and hasattr(self, "norm") and hasattr(self, "branch"):
            # Layers whose norm, residual and projections are computed with them in one pass.
            self.own_norm = type(self.norm) is LayerNorm
            inside = self.own_norm and not self.channels_first
            self.encloses = inside and isinstance(self.branch, SubLayer)
            self.around_mlp = inside and is_mlp(self.branch)
            self.around_linear = inside and is_linear(self.branch)

    def forward(self, x: Tensor) -> Tensor:
        shape = list(x.shape)
        return self._from_tokens(self.connect(self._to_tokens(x), shape), shape)

    def connect(self, x: Tensor, shape: List[int]) -> Tensor:
        """The connection's formula on tokens x [B, T, dim] of an input of that shape."""
        raise NotImplementedError

    def residual(self, x: Tensor) -> Tensor:
        """``H_res x`` alone, on tokens [B, T, dim]; the gate and the operator are left to be looked at."""
        raise NotImplementedError

    def _to_tokens(self, x: Tensor) -> Tensor:
        if x.dim() < 2:
            raise ValueError("x must have a batch and a channel dimension")
        width = x.size(1) if self.channels_first else x.size(-1)
        if width != self.dim:
            raise ValueError(f"x has {width} channels where the connection has {self.dim}")
        if self.channels_first:
            x = x.movedim(1, -1)
        return x.unsqueeze(1) if x.dim() == 2 else x.flatten(1, -2)

    def _from_tokens(self, tokens: Tensor, shape: List[int]) -> Tensor:
        """Tokens [B, T, any width] in the layout of an input of that shape."""
        if self.channels_first:
            return tokens.reshape([shape[0]] + shape[2:] + [tokens.size(-1)]).movedim(-1, 1)
        return tokens.reshape(shape[:-1] + [tokens.size(-1)])

    def _layer(self, x: Tensor, shape: List[int]) -> Tensor:
        """``F(LN x)`` of tokens [B, T, width], which the layer sees in the layout of the connection's input."""
        if self.own_norm:
            y = self.branch(self._from_tokens(self.norm(x), shape))
        else:
            y = self.branch(self.norm(self._from_tokens(x, shape)))
        return self._as_tokens(y, x, shape)

    def _norm_is_bare(self) -> bool:
        if torch.jit.is_scripting():
            return True
        else:
            return is_bare(self.norm)

    def _is_as_made(self) -> bool:
        """The layer still is what it was when it was given, and nobody listens to it or to the norm."""
        if torch.jit.is_scripting():
            return True
        elif self.encloses:
            return self._norm_is_bare() and is_bare(self.branch) and self.branch.has_plain_maps()
        else:
            return self._norm_is_bare() and (is_mlp(self.branch) if self.around_mlp else is_linear(self.branch))

    def _enclosed(
        self, x: Tensor, pre: Optional[Tensor], post: Optional[Tensor], residual: Optional[Tensor], repeats: int
    ) -> Optional[Tensor]:
        """``residual + post · F(pre · LN(x))`` in one pass; None for a layer that can only be called."""
        if self.encloses:
            if self._is_as_made():
                return self.branch.around(x, self.norm.weight, self.norm.bias, pre, post, residual, repeats)
        if self.around_mlp:
            if self._is_as_made():
                fc, proj = self.branch[0], self.branch[2]
                return around_mlp(
                    x,
                    self.norm.weight,
                    self.norm.bias,
                    pre,
                    post,
                    residual,
                    repeats,
                    fc.weight,
                    fc.bias,
                    proj.weight,
                    proj.bias,
                    0.0,
                    None,
                )
        if self.around_linear:
            if self._is_as_made():
                return around_linear(
                    x,
                    self.norm.weight,
                    self.norm.bias,
                    pre,
                    post,
                    residual,
                    repeats,
                    self.branch.weight,
                    self.branch.bias,
                )
        return None

    def _as_tokens(self, y: Tensor, x: Tensor, shape: List[int]) -> Tensor:
        """What a layer made of tokens x of an input of that shape, as tokens."""
        if not torch.jit.is_scripting():
            self._require_tensor(y)
        width = x.size(-1)
        seen = [shape[0], width] + shape[2:] if self.channels_first else shape[:-1] + [width]
        if list(y.shape) != seen:
            raise ValueError(f"the layer gave the shape {list(y.shape)} where it saw {seen}")
        if self.channels_first:
            y = y.movedim(1, -1)
        return y.reshape(x.size(0), x.size(1), width)

    @torch.jit.unused
    def _require_tensor(self, y: Any) -> None:
        if not isinstance(y, Tensor):
            raise TypeError(f"the layer gave a {type(y).__name__} where a tensor is needed")

    def _see(self, gamma: Optional[Tensor], matrix: Optional[Tensor]) -> None:
        """Keeps the gate for gate_loss(), and the operator for operators()."""
        if torch.jit.is_scripting():
            return
        else:
            self._seen.gamma = gamma
            self._seen.matrix = None if matrix is None else matrix.detach()

    def _operator_parameters(self) -> List[Tensor]:
        mine = {id(p) for part in (self.norm, self.branch) for p in part.parameters()}
        return [p for p in self.parameters() if id(p) not in mine]

    @torch.jit.unused
    def gate_loss(self) -> Tensor:
        """``λ · mean R(γ)`` of the last forward pass, to be added to the loss; 0 for a connection without a gate."""
        return torch.zeros(())

    @torch.jit.unused
    def operators(self, x: Optional[Tensor] = None) -> Operators:
        """The residual operators for x, or those of the last forward pass: are they applied, do they learn, do streams
        collapse?"""
        found = Operators()
        gradients = [p.grad for p in self._operator_parameters() if p.grad is not None]
        if gradients:
            found.gradient_norm = torch.stack([g.detach().norm() for g in gradients]).norm().item()
        seen = self._seen
        if x is not None:
            # The gate of the last pass is still wanted, with its gradient.
            seen, kept = _Seen(), self._seen
            self._seen = seen
            try:
                with torch.no_grad():
                    tokens = self._to_tokens(x)
                    self._look_at_tokens(found, tokens, self.residual(tokens))
            finally:
                self._seen = kept
        matrix, gamma = seen.matrix, seen.gamma
        if matrix is None:
            return found
        found.matrix = matrix
        found.gamma = None if gamma is None else gamma.detach()
        matrix = matrix.double()
        if not bool(matrix.isfinite().all()):
            found.orthogonality_error = math.nan
            return found
        found.determinant = torch.linalg.det(matrix)
        found.angles = torch.linalg.eigvals(matrix).angle().sort(-1).values
        found.singular_values = torch.linalg.svdvals(matrix)
        identity = torch.eye(matrix.size(-1), dtype=matrix.dtype, device=matrix.device)
        found.orthogonality_error = (matrix.transpose(-2, -1) @ matrix - identity).abs().max().item()
        return found

    def _look_at_tokens(self, found: Operators, x: Tensor, y: Tensor) -> None:
        found.applied = ((y - x).norm() / x.norm().clamp_min(torch.finfo(x.dtype).tiny)).item()
        n = self.streams
        if n > 1:
            streams = nn.functional.normalize(y.reshape(-1, n, y.size(-1) // n).double(), dim=-1)
            cosines = streams @ streams.transpose(-2, -1)
            of_pairs = cosines.sum((-2, -1)) - cosines.diagonal(dim1=-2, dim2=-1).sum(-1)
            found.stream_cosine = (of_pairs / (n * (n - 1))).mean().item()

    def extra_repr(self) -> str:
        layout = "first" if self.channels_first else "last"
        return f"{self.dim}, streams={self.streams}, channels={layout}"
