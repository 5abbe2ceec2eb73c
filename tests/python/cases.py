"""Every differentiable op with arguments, and its formula: one table for all tests of ops."""

from dataclasses import dataclass
from typing import Any, Callable, Tuple

import formulas
import numpy as np
import torch

B, T, N, D = 2, 3, 4, 8


def _normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def _positive(*shape):
    return torch.rand(*shape, dtype=torch.float64) + 0.5


def _gate(*shape):
    # Away from ½, where one regulariser has a corner.
    values = 0.05 + 0.4 * torch.rand(*shape, dtype=torch.float64)
    return torch.where(torch.rand(*shape) < 0.5, values, 1 - values)


@dataclass
class Case:
    """op(*make()) = formula(*make()). Those of `batched` have the batch as their first dimension."""

    name: str
    op: Callable[..., Any]
    make: Callable[[], Tuple[Any, ...]]
    formula: Callable[..., Any]
    batched: Tuple[int, ...] = (0,)

    def __repr__(self):
        return self.name

    def arguments(self, seed=0):
        torch.manual_seed(seed)
        return self.make()


def _plane(*batch):
    return _normal(*batch, N), _normal(*batch, N), _positive(*batch, 1)


def _gated(*batch):
    return (*_plane(*batch), _normal(*batch, N), _gate(*batch, 1))


def _ops():
    ops = torch.ops.edelta
    everything = lambda arguments: tuple(range(len(arguments)))  # noqa: E731
    matrix = lambda f: lambda *a: formulas.real_of(f(*a))  # noqa: E731
    applied = lambda f: lambda *a: f(*a[:-1]) @ a[-1]  # noqa: E731
    unitary = lambda u, v, b, k, g: formulas.unitary_phase(k, g) @ formulas.unitary_rotation(u, v, b)  # noqa: E731
    ones = (0, 1, 2, 3)
    yield Case("cayley_matrix", ops.cayley_matrix, lambda: _plane(B, T), formulas.cayley, (0, 1, 2))
    yield Case(
        "cayley_rotate", ops.cayley_rotate, lambda: (*_plane(B, T), _normal(B, T, N, 3)), applied(formulas.cayley), ones
    )
    yield Case("householder_matrix", ops.householder_matrix, lambda: (_normal(B, T, N),), formulas.householder)
    yield Case(
        "householder_reflect",
        ops.householder_reflect,
        lambda: (_normal(B, T, N), _normal(B, T, N, 3)),
        applied(formulas.householder),
        (0, 1),
    )
    yield Case(
        "unit_direction",
        ops.unit_direction,
        lambda: (_normal(B, T, N),),
        lambda k: k / np.linalg.norm(k, axis=-1, keepdims=True),
    )
    yield Case("hybrid_matrix", ops.hybrid_matrix, lambda: _gated(B, T), formulas.hybrid, everything(range(5)))
    yield Case(
        "geodesic_matrix",
        ops.geodesic_matrix,
        lambda: _gated(B, T),
        lambda u, v, b, k, g: formulas.turn(u, k, g) @ formulas.cayley(u, v, b),
        everything(range(5)),
    )
    yield Case(
        "geodesic_turn",
        ops.geodesic_turn,
        lambda: (_normal(B, T, N), _normal(B, T, N), _gate(B, T, 1), _normal(B, T, N, 3)),
        applied(formulas.turn),
        ones,
    )
    yield Case("unitary_matrix", ops.unitary_matrix, lambda: _gated(B, T), matrix(unitary), everything(range(5)))
    yield Case(
        "unitary_rotation_matrix",
        ops.unitary_rotation_matrix,
        lambda: _plane(B, T),
        matrix(formulas.unitary_rotation),
        (0, 1, 2),
    )
    yield Case(
        "unitary_reflection_matrix",
        ops.unitary_reflection_matrix,
        lambda: (_normal(B, T, N),),
        matrix(lambda k: formulas.unitary_phase(k, np.zeros(k.shape[:-1] + (1,)))),
    )
    yield Case(
        "unitary_rotate",
        ops.unitary_rotate,
        lambda: (*_plane(B, T), _normal(B, T, N, 3)),
        applied(matrix(formulas.unitary_rotation)),
        ones,
    )
    yield Case(
        "unitary_turn",
        ops.unitary_turn,
        lambda: (_normal(B, T, N), _gate(B, T, 1), _normal(B, T, N, 3)),
        applied(matrix(formulas.unitary_phase)),
        (0, 1, 2),
    )
    yield Case(
        "delta",
        ops.delta,
        lambda: (_normal(B, T, D), _positive(B, T, 1), _normal(B, T, D)),
        formulas.delta,
        (0, 1, 2),
    )
    yield Case("sinkhorn", ops.sinkhorn, lambda: (_normal(B, T, N, N),), formulas.sinkhorn)
    yield Case("iterative_cayley", ops.iterative_cayley, lambda: (_normal(B, T, N, N),), formulas.iterative_cayley)
    yield Case(
        "iterative_cayley_from_identity",
        ops.iterative_cayley_from_identity,
        lambda: (_normal(B, T, N, N),),
        lambda z: formulas.iterative_cayley(z, from_identity=True),
    )
    yield Case(
        "stream_mix", ops.stream_mix, lambda: (_normal(B, T, N, N), _normal(B, T, D)), formulas.stream_mix, (0, 1)
    )
    yield Case(
        "stream_mix, one operator a sequence",
        ops.stream_mix,
        lambda: (_normal(B, 1, N, N), _normal(B, T, D)),
        formulas.stream_mix,
        (0, 1),
    )
    yield Case(
        "stream_aggregate",
        ops.stream_aggregate,
        lambda: (_normal(B, T, N), _normal(B, T, D)),
        formulas.stream_aggregate,
        (0, 1),
    )
    yield Case(
        "stream_update",
        ops.stream_update,
        lambda: (_normal(B, T, N, N), _normal(B, T, D), _normal(B, T, N), _normal(B, T, D)),
        formulas.stream_update,
        ones,
    )
    yield Case(
        "stream_update without a mixer, one vector for all streams",
        ops.stream_update,
        lambda: (None, _normal(B, T, D), _normal(B, T, N), _normal(B, T, D // N)),
        formulas.stream_update,
        (1, 2, 3),
    )
    yield Case("prefix_mean", ops.prefix_mean, lambda: (_normal(B, T, D),), formulas.prefix_mean)
    yield Case("sequence_mean", ops.sequence_mean, lambda: (_normal(B, T, D),), lambda x: x.mean(1, keepdims=True))
    for count in (2, 3):
        yield Case(
            f"token_mixers of {count}", ops.token_mixers, lambda count=count: (_normal(B, T, count, N, N),),
            formulas.token_mixers,
        )
        yield Case(
            f"route of {count}",
            ops.route,
            lambda count=count: (
                _normal(B, T, D),
                _positive(D),
                _normal(D),
                _normal(count * N * N, D),
                _normal(count * N * N),
                N,
            ),
            _route,
        )
    yield Case(
        "linear",
        ops.linear,
        lambda: (_normal(B, T, D), _normal(5, D), _normal(5), _positive(D), _normal(D), False, _normal(B, T, 5)),
        lambda x, w, b, nw, nb, rms, r: r + formulas.layer_norm(x, nw, nb) @ w.T + b,
        (0, 6),
    )
    yield Case(
        "linear after an RMS norm",
        ops.linear,
        lambda: (_normal(B, T, D), _normal(5, D), None, _positive(D), None, True),
        lambda x, w, b, nw, nb, rms: formulas.rms_norm(x, nw) @ w.T,
    )
    yield Case(
        "mlp",
        ops.mlp,
        lambda: (
            _normal(B, T, D),
            _normal(6, D),
            _normal(6),
            _normal(5, 6),
            _normal(5),
            _positive(D),
            _normal(D),
            _normal(B, T, 5),
        ),
        lambda x, w, b, v, c, nw, nb, r: r + formulas.gelu(formulas.layer_norm(x, nw, nb) @ w.T + b) @ v.T + c,
        (0, 7),
    )
    yield Case(
        "normalise",
        ops.normalise,
        lambda: (_normal(B, T, D), _positive(D), _normal(D)),
        formulas.layer_norm,
    )
    yield Case(
        "causal_attention",
        ops.causal_attention,
        lambda: (_normal(B, T, 3 * D), 2),
        formulas.causal_attention,
    )
    yield Case(
        "embedding",
        ops.embedding,
        lambda: (torch.randint(0, 7, (B, T)), _normal(7, D), _normal(T + 1, D)),
        lambda token, words, positions: words[token] + positions[: token.shape[1]],
    )
    yield Case(
        "cross_entropy",
        ops.cross_entropy,
        lambda: (_normal(B, T, D), _normal(7, D), torch.tensor([[1, -1, 3], [0, 6, 2]]), _normal(7)),
        lambda x, w, target, b: formulas.token_losses(x @ w.T + b, target).sum() / (target != -1).sum(),
        (),
    )
    for regulariser in ("product", "entropy", "squared-product", "min-distance"):
        yield Case(
            f"gate_penalty {regulariser}",
            ops.gate_penalty,
            lambda regulariser=regulariser: (_gate(B, T, 1), regulariser),
            formulas.gate_penalty,
        )


def _route(x, norm_weight, norm_bias, weight, bias, n):
    logits = formulas.layer_norm(x, norm_weight, norm_bias) @ weight.T + bias
    pre, post, *rest = formulas.token_mixers(logits.reshape(x.shape[:-1] + (-1, n, n)))
    return [formulas.stream_aggregate(pre, x), post, *rest]


def all_cases():
    import edelta  # noqa: F401

    return list(_ops())


def tensors(result):
    """A result as a list."""
    return [result] if isinstance(result, torch.Tensor) else list(result)


def as_dtype(arguments, dtype):
    return tuple(
        a.to(dtype) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments
    )


def requiring_gradients(arguments):
    return tuple(
        a.detach().clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in arguments
    )


def differentiable(arguments):
    return [a for a in arguments if isinstance(a, torch.Tensor) and a.is_floating_point()]
