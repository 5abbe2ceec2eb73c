"""What is wrong gets an exception that names it. Nothing crashes."""

import math

import cases
import edelta
import pytest
import torch
from torch import nn

CASES = cases.all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_wrong_shapes(case, dtype):
    """Each tensor in turn with another size in each dimension: an exception, or the result of broadcasting."""
    arguments = cases.as_dtype(case.arguments(), dtype)
    for i, argument in enumerate(arguments):
        if not isinstance(argument, torch.Tensor):
            continue
        spoilt = [torch.zeros((), dtype=argument.dtype), argument.new_zeros(0)]
        for dim in range(argument.dim()):
            spoilt.append(torch.cat([argument, argument.narrow(dim, 0, 1)], dim))
            spoilt.append(argument.narrow(dim, 0, 0))
        spoilt.append(argument.unsqueeze(0).expand(3, *argument.shape))
        for bad in spoilt:
            given = (*arguments[:i], bad, *arguments[i + 1 :])
            try:
                found = cases.tensors(case.op(*given))
            except (RuntimeError, IndexError) as error:
                assert str(error).strip()
                continue
            if dtype == torch.float64:
                continue
            # What the kernels take must be what the definition makes of it.
            expected = case.op(*cases.as_dtype(given, torch.float64))
            for f, e in zip(found, cases.tensors(expected)):
                torch.testing.assert_close(f.double(), e, rtol=1e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_wrong_dtypes(case):
    arguments = case.arguments()
    floating = [i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor) and a.is_floating_point()]
    for i in floating:
        for dtype in (torch.int64, torch.complex64, torch.bool):
            with pytest.raises(RuntimeError, match="floating dtype|must be an int64|dense"):
                case.op(*arguments[:i], arguments[i].to(dtype), *arguments[i + 1 :])
    if len(floating) > 1:
        with pytest.raises(RuntimeError, match="is Float, but|is Double, but|is float, but|is double, but"):
            case.op(*arguments[: floating[-1]], arguments[floating[-1]].float(), *arguments[floating[-1] + 1 :])


def test_other_wrong_arguments():
    ops = torch.ops.edelta
    z = torch.randn(2, 4, 4)
    for call, message in (
        (lambda: ops.sinkhorn(z, -1), "must not be negative"),
        (lambda: ops.iterative_cayley(z, 0.1, -1), "must not be negative"),
        (lambda: ops.sinkhorn(torch.randn(4, 3)), r"\[\.\.\., n, n\]"),
        (lambda: ops.sinkhorn(torch.randn(3, 0, 0)), "nothing in dimension"),
        (lambda: ops.unitary_matrix(*(torch.randn(3),) * 2, torch.rand(1), torch.randn(3), torch.rand(1)), "even"),
        (lambda: ops.prefix_mean(torch.randn(2, 0, 4)), "nothing in dimension"),
        (lambda: ops.prefix_mean(torch.randn(4)), r"\[B, T, D\]"),
        (lambda: ops.stream_mix(torch.randn(2, 3, 4, 4), torch.randn(2, 3, 10)), "multiple"),
        (lambda: ops.causal_attention(torch.randn(1, 2, 12), 0), "heads"),
        (lambda: ops.causal_attention(torch.randn(1, 2, 12), 3), "heads"),
        (lambda: ops.gate_penalty(torch.rand(3), "square"), "regulariser is 'square'"),
        (lambda: ops.drop(torch.randn(3), 0.5, None, 0), "needs a key"),
        (lambda: ops.drop(torch.randn(3), 1.0, torch.tensor([1]), 0), "below 1"),
        (lambda: ops.drop(torch.randn(3), 0.5, torch.tensor([1]), -1), "32 bits"),
        (lambda: ops.embedding(torch.tensor([[7]]), torch.randn(7, 4), torch.randn(2, 4)), "vocabulary"),
        (lambda: ops.embedding(torch.tensor([[-1]]), torch.randn(7, 4), torch.randn(2, 4)), "vocabulary"),
        (lambda: ops.embedding(torch.zeros(1, 3, dtype=torch.int64), torch.randn(7, 4), torch.randn(2, 4)), "fewer"),
        (
            lambda: ops.cross_entropy(torch.randn(1, 2, 4), torch.randn(7, 4), torch.tensor([[1, 7]])),
            "vocabulary",
        ),
        (lambda: ops.linear(torch.randn(2, 4), torch.randn(3, 4), None, None, torch.randn(4)), "needs a norm_weight"),
        (lambda: ops.adamw_step([torch.zeros(2)], [], [], [], [], 1, 0.1), "every list"),
        (
            lambda: ops.adamw_step(*([torch.zeros(n)] for n in (2, 3, 2, 2)), [0.0], 1, 0.1),
            "shape",
        ),
        (lambda: ops.adamw_step(*([torch.zeros(2)],) * 4, [0.0], 0, 0.1), "counts from 1"),
        (lambda: ops.set_implementation("fast"), "composite or fused"),
        (lambda: ops.read_safetensors("/does/not/exist"), "exist"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


def test_sparse_tensors_are_refused():
    with pytest.raises(RuntimeError, match="dense"):
        torch.ops.edelta.sinkhorn(torch.eye(4).to_sparse())


class Giving(nn.Module):
    """A layer that gives so many channels, or a tuple."""

    def __init__(self, channels):
        super().__init__()
        self.channels = channels

    def forward(self, x):
        return (x, x) if self.channels is None else x[..., : self.channels]


def test_wrong_modules():
    layer = nn.Linear(16, 16)
    make = edelta.nn.HybridResidual
    for call, kind, message in (
        (lambda: make(16), TypeError, "branch is missing"),
        (lambda: make(16, branch=torch.relu), TypeError, "must be an nn.Module"),
        (lambda: make(layer, 16), TypeError, "dim must be a whole number, not Linear; the layer is"),
        (lambda: edelta.nn.JPMHCResidual(layer, 4), TypeError, "the layer is the argument branch"),
        (lambda: make(16.0, branch=layer), TypeError, "dim must be a whole number, not float"),
        (lambda: make(16, branch=nn.Linear(16, 8)), ValueError, "takes 16 channels and gives 8; .* sees 16"),
        (lambda: edelta.nn.JPMHCResidual(16, 4, layer), ValueError, "takes 16 channels and gives 16; .* sees 4"),
        (lambda: make(16, 4, nn.Sequential(nn.Linear(8, 9), nn.GELU(), nn.Linear(9, 16))), ValueError, "takes 8"),
        (lambda: make(16, 4, layer, hidden=0), ValueError, "hidden is 0"),
        (lambda: make(16, 4, layer, hidden=2.5), TypeError, "hidden must be a whole number"),
        (lambda: make(16, 4, layer, gate_weight=math.nan), ValueError, "gate_weight is nan"),
        (lambda: make(16, 4, layer, gate_bias=math.inf), ValueError, "gate_bias is inf"),
        (lambda: make(16, 3, layer), ValueError, "must divide dim"),
        (lambda: make(16, 0, layer), ValueError, "must divide dim"),
        (lambda: make(16, 4, layer, pool="all"), ValueError, "pool is 'all'"),
        (lambda: make(16, 4, layer, blend="soft"), ValueError, "blend is 'soft'"),
        (lambda: make(16, 4, layer, field="complex", blend="linear"), ValueError, "must be geodesic"),
        (lambda: make(16, 1, layer, field="complex"), ValueError, "even"),
        (lambda: make(16, 1, layer, blend="geodesic"), ValueError, "two streams"),
        (lambda: make(16, 4, layer, operator="shift"), ValueError, "operator is 'shift'"),
        (lambda: make(16, 4, layer, generator="random"), ValueError, "generator is 'random'"),
        (lambda: make(16, 4, layer, regulariser="l2"), ValueError, "regulariser is 'l2'"),
        (lambda: make(16, 4, layer, gate_weight=-1.0), ValueError, "must not be negative"),
        (lambda: make(16, 4, layer, gate_gradient="none"), ValueError, "gate_gradient"),
        (lambda: make(16, 4, layer, projections="both"), ValueError, "projections"),
        (lambda: make(16, 4, layer, projection_factors=0), ValueError, "projection_factors"),
        (lambda: make(16, 4, layer, projection_init="zero"), ValueError, "projection_init"),
        (lambda: make(16, 4, layer, operator_init="dead"), ValueError, "operator_init is 'dead'"),
        (lambda: make(16, 4, layer, channels="middle"), ValueError, "channels is 'middle'"),
        (lambda: edelta.nn.DeltaResidual(16, layer, pool="none"), ValueError, "pool is 'none'"),
        (lambda: edelta.nn.Attention(16, 3), ValueError, "must divide the width"),
        (lambda: edelta.nn.Attention(16, 0), ValueError, "heads is 0"),
        (lambda: edelta.nn.Attention(16, -2), ValueError, "heads is -2"),
        (lambda: make(16, 4, layer, norm="ln"), TypeError, "norm must be an nn.Module, not str"),
        (lambda: edelta.nn.JPMHCResidual(16, 4, nn.Linear(4, 4), alpha=math.nan), ValueError, "alpha is nan"),
        (lambda: edelta.nn.JPMHCResidual(16, 4, nn.Linear(4, 4), iterations=2.5), TypeError, "whole number"),
        (lambda: edelta.nn.MHCResidual(16, 4, layer, iterations=-1), ValueError, "iterations is -1"),
        (lambda: edelta.data.generate("near-pi", theta=math.nan), ValueError, "theta is nan"),
        (lambda: edelta.data.generate("near-pi", theta=object()), TypeError, "theta must be a number"),
        (lambda: edelta.nn.MLP(16, dropout=1.0), ValueError, "below 1"),
        (lambda: edelta.functional.hybrid(*(torch.rand(4),) * 5, blend="no"), ValueError, "blend is 'no'"),
        (lambda: edelta.functional.cayley(*(torch.rand(4),) * 3, field="no"), ValueError, "field is 'no'"),
        (lambda: edelta.implementation("quick"), RuntimeError, "composite or fused"),
    ):
        with pytest.raises(kind, match=message):
            call()
    block = make(16, 4, layer)
    for x, message in ((torch.randn(2, 3, 8), "8 channels where the connection has 16"), (torch.randn(16), "batch")):
        with pytest.raises(ValueError, match=message):
            block(x)
    with pytest.raises(RuntimeError, match="floating dtype"):
        block(torch.zeros(2, 3, 16, dtype=torch.int64))
    for gives, kind, message in (
        (8, ValueError, r"gave the shape \[2, 3, 8\] where it saw \[2, 3, 16\]"),
        (None, TypeError, "gave a tuple"),
    ):
        with pytest.raises(kind, match=message):
            make(16, 4, Giving(gives))(torch.randn(2, 3, 16))
    with pytest.raises(RuntimeError, match="but x is|is Float|is Double|is float|is double|dtype"):
        block(torch.randn(2, 3, 16, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="nothing in dimension"):
        block(torch.randn(2, 0, 16))


def test_a_failed_choice_of_implementation_changes_nothing():
    before = torch.ops.edelta.implementation()
    with pytest.raises(RuntimeError):
        edelta.implementation("quick")
    assert torch.ops.edelta.implementation() == before


class Swapped(nn.Module):
    def forward(self, x):
        return x.transpose(0, 1)


def test_a_layer_that_gives_another_shape_is_refused():
    """Also where there are as many numbers in it, or as many channels."""
    for block, x, message in (
        (edelta.nn.PlainResidual(16, Swapped()), torch.randn(2, 3, 16), r"\[3, 2, 16\] where it saw \[2, 3, 16\]"),
        (edelta.nn.PlainResidual(16, Swapped(), norm=nn.Identity()), torch.randn(2, 3, 16), "where it saw"),
        (
            edelta.nn.PlainResidual(16, nn.Conv1d(16, 16, 3), channels="first"),
            torch.randn(2, 16, 9),
            r"\[2, 16, 7\] where it saw \[2, 16, 9\]",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            block(x)


def test_an_implementation_may_be_used_again():
    before = torch.ops.edelta.implementation()
    choice = edelta.implementation("composite")
    for _ in range(2):
        with choice:
            assert torch.ops.edelta.implementation() == "composite"
            with choice:
                assert torch.ops.edelta.implementation() == "composite"
            assert torch.ops.edelta.implementation() == "composite"
        assert torch.ops.edelta.implementation() == before
