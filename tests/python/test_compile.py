"""torch.compile and torch.export over ops and modules, where PyTorch has them (2.x)."""

import cases
import edelta
import pytest
import torch
from test_modules import NAMES, all_modules
from torch import nn

pytestmark = pytest.mark.skipif(not hasattr(torch, "compile"), reason="PyTorch 1 has neither")


@pytest.fixture(autouse=True)
def fresh():
    """Every test compiles for itself; what others compiled would count as its recompilations."""
    torch._dynamo.reset()


BACKEND = "aot_eager"  # the whole of the tracing, without a compiler for C++ at run time


@pytest.mark.parametrize("case", cases.all_cases(), ids=str)
def test_ops(case):
    arguments = cases.requiring_gradients(cases.as_dtype(case.arguments(), torch.float32))
    compiled = torch.compile(lambda *a: case.op(*a), fullgraph=True, backend=BACKEND)
    results = []
    for op in (case.op, compiled):
        found = cases.tensors(op(*arguments))
        total = sum((r * torch.linspace(-1, 1, r.numel()).reshape(r.shape)).sum() for r in found)
        results.append((found, torch.autograd.grad(total, cases.differentiable(arguments))))
    for eager, traced in zip(results[0][0] + list(results[0][1]), results[1][0] + list(results[1][1])):
        torch.testing.assert_close(traced, eager)


@pytest.mark.parametrize("name", NAMES)
def test_modules(name):
    torch.manual_seed(0)
    block = all_modules()[name]
    compiled = torch.compile(block, fullgraph=True, backend=BACKEND)
    for positions in (5, 7, 9):  # another length is compiled with a symbol for it
        x = torch.randn(2, positions, 16)
        block.zero_grad()
        expected = block(x)
        (expected.square().sum() + block.gate_loss()).backward()
        gradients = [p.grad.clone() for p in block.parameters()]
        block.zero_grad()
        y = compiled(x)
        torch.testing.assert_close(y, expected)
        (y.square().sum() + block.gate_loss()).backward()
        for p, g in zip(block.parameters(), gradients):
            torch.testing.assert_close(p.grad, g, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_export(name, training):
    torch.manual_seed(0)
    block = all_modules()[name].train(training)
    x = torch.randn(2, 5, 16)
    exported = torch.export.export(block, (x,))
    torch.testing.assert_close(exported.module()(x), block(x))
    called = {str(node.target) for node in exported.graph.nodes if node.op == "call_function"}
    assert name == "plain" or any("edelta" in target for target in called)


def test_a_convolution_with_channels_first():
    block = edelta.nn.HybridResidual(16, 4, nn.Conv2d(16, 16, 3, padding=1), channels="first")
    x = torch.randn(2, 16, 4, 5)
    compiled = torch.compile(block, fullgraph=True, backend=BACKEND)
    torch.testing.assert_close(compiled(x), block(x))


def test_the_default_compiler():
    """Inductor, which writes C++ around the ops: it needs python3-dev and python3-setuptools."""
    pytest.importorskip("setuptools.command")
    block = edelta.nn.HybridResidual(16, 4, nn.Linear(16, 16))
    x = torch.randn(2, 5, 16)
    y = torch.compile(block, fullgraph=True)(x)
    torch.testing.assert_close(y, block(x))
    (y.square().sum() + block.gate_loss()).backward()
    assert all(p.grad is not None for p in block.parameters())


def test_a_transformer():
    model = edelta.Transformer(model="edelta", n_layer=2, n_embd=16, n_head=2, input_dim=4, block_size=8, pool="prefix")
    x = torch.randn(2, 8, 4)
    compiled = torch.compile(model, fullgraph=True, backend=BACKEND)
    torch.testing.assert_close(compiled(x), model(x))
    with torch.no_grad():
        exported = torch.export.export(model.eval(), (x,))
        torch.testing.assert_close(exported.module()(x), model(x))


def test_transforms():
    """torch.func: its tensors wrap others, whose memory no kernel may look for."""
    torch.manual_seed(0)
    g, x = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 8)

    def loss(g, x):
        return torch.ops.edelta.stream_mix(g, x).square().sum()

    found = torch.func.grad(loss, argnums=(0, 1))(g, x)
    leaves = g.clone().requires_grad_(), x.clone().requires_grad_()
    for f, e in zip(found, torch.autograd.grad(loss(*leaves), leaves)):
        torch.testing.assert_close(f, e)
    z = torch.randn(3, 2, 4, 4)
    torch.testing.assert_close(torch.vmap(torch.ops.edelta.sinkhorn)(z), torch.ops.edelta.sinkhorn(z))
    with pytest.raises(RuntimeError, match="differentiated once"):
        torch.func.grad(lambda x: torch.func.grad(loss, argnums=1)(g, x).square().sum())(x)
