"""Every op against its formula in numpy float64, by gradcheck, and in every kind of tensor."""

import cases
import edelta
import formulas
import numpy as np
import pytest
import torch

CASES = cases.all_cases()
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def in_numpy(arguments):
    return tuple(a.detach().numpy() if isinstance(a, torch.Tensor) else a for a in arguments)


def gradients_of(case, arguments):
    results = cases.tensors(case.op(*arguments))
    total = sum((r * torch.linspace(-1, 1, r.numel(), dtype=r.dtype).reshape(r.shape)).sum() for r in results)
    return torch.autograd.grad(total, cases.differentiable(arguments))


@every_case
def test_float64_is_the_formula(case):
    arguments = case.arguments()
    expected = case.formula(*in_numpy(arguments))
    found = cases.tensors(case.op(*arguments))
    expected = expected if isinstance(expected, list) else [expected]
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        assert tuple(f.shape) == np.shape(e)
        assert f.dtype == torch.float64
        np.testing.assert_allclose(f.numpy(), e, rtol=1e-12, atol=1e-12)


@every_case
def test_float32_is_the_formula(case):
    arguments = cases.as_dtype(case.arguments(), torch.float32)
    expected = case.formula(*in_numpy(cases.as_dtype(arguments, torch.float64)))
    expected = expected if isinstance(expected, list) else [expected]
    for f, e in zip(cases.tensors(case.op(*arguments)), expected):
        assert f.dtype == torch.float32
        np.testing.assert_allclose(f.numpy(), e, rtol=2e-5, atol=2e-5)


@every_case
def test_gradcheck(case):
    arguments = cases.requiring_gradients(case.arguments())
    assert torch.autograd.gradcheck(case.op, arguments, check_undefined_grad=False)


@every_case
def test_float32_gradients_are_those_of_float64(case):
    exact = gradients_of(case, cases.requiring_gradients(case.arguments()))
    single = gradients_of(case, cases.requiring_gradients(cases.as_dtype(case.arguments(), torch.float32)))
    for s, e in zip(single, exact):
        assert s.dtype == torch.float32
        np.testing.assert_allclose(s.numpy(), e.numpy(), rtol=1e-4, atol=1e-4 * max(1.0, e.abs().max().item()))


@pytest.mark.parametrize("name", ["hybrid_matrix", "cayley_rotate", "delta", "sinkhorn", "stream_mix", "linear"])
def test_float64_can_be_differentiated_twice(name):
    case = next(c for c in CASES if c.name == name)
    arguments = cases.requiring_gradients(case.arguments())
    assert torch.autograd.gradgradcheck(case.op, arguments, check_undefined_grad=False)


@pytest.mark.skipif(not edelta.has_kernels(), reason="there are no kernels on this processor")
@pytest.mark.parametrize(
    "name",
    ["hybrid_matrix", "delta", "sinkhorn", "stream_mix", "sequence_mean", "linear", "mlp", "causal_attention"],
)
def test_a_second_derivative_of_the_kernels_is_refused(name):
    case = next(c for c in CASES if c.name == name)
    arguments = cases.requiring_gradients(cases.as_dtype(case.arguments(), torch.float32))
    total = sum(r.square().sum() for r in cases.tensors(case.op(*arguments)))
    with pytest.raises(RuntimeError, match="no second derivative"):
        torch.autograd.grad(total, cases.differentiable(arguments), create_graph=True)


def test_the_composite_implementation_can_be_differentiated_twice_in_float32(composite):
    case = next(c for c in CASES if c.name == "hybrid_matrix")
    arguments = cases.requiring_gradients(cases.as_dtype(case.arguments(), torch.float32))
    first = torch.autograd.grad(case.op(*arguments).square().sum(), arguments, create_graph=True)
    second = torch.autograd.grad(first[0].sum(), arguments)
    assert all(g.isfinite().all() for g in second)


@every_case
def test_composite_and_fused_agree(case):
    arguments = cases.as_dtype(case.arguments(), torch.float32)
    fused = cases.tensors(case.op(*arguments))
    with edelta.implementation("composite"):
        composite = cases.tensors(case.op(*arguments))
    for f, c in zip(fused, composite):
        torch.testing.assert_close(f, c, rtol=2e-5, atol=2e-5)


@every_case
def test_meta_tensors_have_the_shapes_and_strides(case):
    arguments = case.arguments()
    meta = tuple(a.to("meta") if isinstance(a, torch.Tensor) else a for a in arguments)
    for m, r in zip(cases.tensors(case.op(*meta)), cases.tensors(case.op(*arguments))):
        assert m.is_meta
        assert (m.shape, m.dtype, m.stride()) == (r.shape, r.dtype, r.stride())


@every_case
def test_the_derivative_of_meta_tensors_has_shapes_too(case):
    meta = tuple(a.to("meta") if isinstance(a, torch.Tensor) else a for a in case.arguments())
    meta = cases.requiring_gradients(meta)
    results = cases.tensors(case.op(*meta))
    found = torch.autograd.grad(sum(r.sum() for r in results), cases.differentiable(meta))
    for g, a in zip(found, cases.differentiable(meta)):
        assert g.is_meta and g.shape == a.shape


@every_case
def test_the_traced_derivative_is_the_derivative(case):
    """NAME_backward, which a compiled graph calls."""
    arguments = case.arguments()
    results = cases.tensors(case.op(*arguments))
    upstream = [torch.linspace(-1, 1, r.numel(), dtype=r.dtype).reshape(r.shape) for r in results]
    backward = getattr(torch.ops.edelta, case.op.__name__.split(".")[-1] + "_backward")
    found = backward(upstream, *arguments)
    expected = gradients_of(case, cases.requiring_gradients(arguments))
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        torch.testing.assert_close(f, e, rtol=1e-12, atol=1e-12)


@every_case
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_not_contiguous(case, dtype):
    arguments = cases.as_dtype(case.arguments(), dtype)

    def scattered(a):
        if not isinstance(a, torch.Tensor) or a.dim() == 0:
            return a
        wide = torch.stack([torch.zeros_like(a), a], -1)
        return wide[..., 1]

    spread = tuple(scattered(a) for a in arguments)
    assert any(isinstance(a, torch.Tensor) and not a.is_contiguous() for a in spread)
    for f, e in zip(cases.tensors(case.op(*spread)), cases.tensors(case.op(*arguments))):
        torch.testing.assert_close(f, e, rtol=1e-6, atol=1e-6)
    leaves = [a.detach() if torch.is_tensor(a) else a for a in spread]
    for leaf in cases.differentiable(leaves):
        leaf.requires_grad_()
    found = gradients_of(case, leaves)
    for f, e in zip(found, gradients_of(case, cases.requiring_gradients(arguments))):
        torch.testing.assert_close(f, e, rtol=1e-5, atol=1e-5)


@every_case
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_empty_batch(case, dtype):
    if not case.batched:
        pytest.skip("its result is one number")
    arguments = list(cases.requiring_gradients(cases.as_dtype(case.arguments(), dtype)))
    for i in case.batched:
        arguments[i] = arguments[i].detach()[:0].requires_grad_(arguments[i].is_floating_point())
    results = cases.tensors(case.op(*arguments))
    assert results[0].numel() == 0
    wanted = [a for a in cases.differentiable(arguments)]
    found = torch.autograd.grad(sum(r.sum() for r in results), wanted, allow_unused=True)
    for g, a in zip(found, wanted):
        assert g is None or (g.shape == a.shape and bool((g == 0).all()))


@every_case
def test_each_argument_alone_may_want_a_gradient(case):
    arguments = cases.as_dtype(case.arguments(), torch.float32)
    everything = gradients_of(case, cases.requiring_gradients(arguments))
    floating = [i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor) and a.is_floating_point()]
    for place, i in enumerate(floating):
        alone = list(arguments)
        alone[i] = arguments[i].clone().requires_grad_()
        results = cases.tensors(case.op(*alone))
        total = sum((r * torch.linspace(-1, 1, r.numel()).reshape(r.shape)).sum() for r in results)
        (found,) = torch.autograd.grad(total, [alone[i]])
        torch.testing.assert_close(found, everything[place], rtol=1e-5, atol=1e-5)


def test_straight_through():
    torch.manual_seed(0)
    value, gradient, x = (torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4), torch.randn(2, 3, 8))
    for dtype in (torch.float32, torch.float64):
        v, g, y = (t.to(dtype).requires_grad_() for t in (value, gradient, x))
        out = torch.ops.edelta.stream_mix_straight_through(v, g, y)
        torch.testing.assert_close(out, torch.ops.edelta.stream_mix(v, y))
        weights = torch.randn_like(out)
        found = torch.autograd.grad((out * weights).sum(), [g, y])
        expected = torch.autograd.grad((torch.ops.edelta.stream_mix(g, y) * weights).sum(), [g, y])
        for f, e in zip(found, expected):
            torch.testing.assert_close(f, e)


def test_operators_broadcast():
    torch.manual_seed(0)
    u, v, k = torch.randn(1, 4, 3), torch.randn(3), torch.randn(4, 1, 3)
    beta, gamma = torch.rand(4, 1, 1), torch.rand(1)
    for dtype in (torch.float32, torch.float64):
        found = torch.ops.edelta.hybrid_matrix(*(t.to(dtype) for t in (u, v, beta, k, gamma)))
        wide = [t.to(torch.float64).expand(4, 4, t.shape[-1]).numpy() for t in (u, v, beta, k, gamma)]
        np.testing.assert_allclose(found.numpy(), formulas.hybrid(*wide), rtol=1e-5, atol=1e-5)


def test_reduced_precision():
    x = torch.randn(2, 5, 8, dtype=torch.bfloat16)
    assert edelta.functional.prefix_mean(x).dtype == torch.bfloat16
    g = edelta.functional.cayley(torch.randn(2, 1, 4), torch.randn(2, 1, 4), torch.rand(2, 1, 1)).to(torch.bfloat16)
    assert edelta.functional.stream_mix(g, x).dtype == torch.bfloat16


def test_autocast():
    """Under autocast layers make bfloat16 of what the operators then see beside float32."""
    block = edelta.nn.HybridResidual(16, branch=torch.nn.Linear(16, 16))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = block(torch.randn(2, 3, 16))
        (y.float().square().mean() + block.gate_loss()).backward()
    assert y.isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in block.parameters())


def test_dropout_is_a_function_of_its_address():
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    key = torch.tensor([7])
    first = torch.ops.edelta.drop(x, 0.5, key, 3)
    torch.testing.assert_close(first, torch.ops.edelta.drop(x, 0.5, key, 3), rtol=0, atol=0)
    kept = first != 0
    torch.testing.assert_close(first[kept], 2 * x[kept])
    assert 0 < kept.sum() < x.numel()
    assert not torch.equal(kept, torch.ops.edelta.drop(x, 0.5, torch.tensor([8]), 3) != 0)
    assert torch.equal(torch.ops.edelta.drop(x, 0.0, None, 0), x)
    factors = torch.ops.edelta.dropout_factors(0.5, key, 3, 1, 4, 5)
    assert factors.shape == (1, 4, 5) and set(factors.unique().tolist()) <= {0.0, 2.0}


def test_adamw_is_pytorchs():
    torch.manual_seed(0)
    ours = [torch.randn(5, 3), torch.randn(4)]
    theirs = [p.clone().requires_grad_() for p in ours]
    first, second = [torch.zeros_like(p) for p in ours], [torch.zeros_like(p) for p in ours]
    optimiser = torch.optim.AdamW(
        [{"params": theirs[:1], "weight_decay": 0.1}, {"params": theirs[1:], "weight_decay": 0.0}],
        lr=1e-2,
        betas=(0.9, 0.95),
    )
    for step in range(1, 4):
        gradients = [torch.randn_like(p) for p in ours]
        torch.ops.edelta.adamw_step(ours, gradients, first, second, [0.1, 0.0], step, 1e-2)
        for p, g in zip(theirs, gradients):
            p.grad = g.clone()
        optimiser.step()
        expected = sum(g.double().square().sum().item() for g in gradients)
        assert torch.ops.edelta.squared_norm(gradients) == pytest.approx(expected, rel=1e-6)
    for o, t in zip(ours, theirs):
        torch.testing.assert_close(o, t.detach(), rtol=1e-5, atol=1e-6)


def test_properties_of_the_operators():
    """What the paper says of them, at sizes and scales where a naive formula would fail."""
    torch.manual_seed(0)
    f = edelta.functional
    u, v = 1e6 * torch.randn(50, 6, dtype=torch.float64), 1e-6 * torch.randn(50, 6, dtype=torch.float64)
    beta = 10 ** torch.linspace(-8, 8, 50, dtype=torch.float64).unsqueeze(-1)
    identity = torch.eye(6, dtype=torch.float64)
    q = f.cayley(u, v, beta)
    assert (q.transpose(-2, -1) @ q - identity).abs().max() < 1e-12
    torch.testing.assert_close(torch.linalg.det(q), torch.ones(50, dtype=torch.float64))
    h = f.householder(1e-200 * torch.randn(50, 6, dtype=torch.float64))
    torch.testing.assert_close(torch.linalg.det(h), -torch.ones(50, dtype=torch.float64))
    assert torch.equal(f.householder(torch.zeros(6)), torch.eye(6))
    k, gamma = torch.randn(50, 6, dtype=torch.float64), torch.rand(50, 1, dtype=torch.float64)
    for blend, field in (("geodesic", "real"), ("geodesic", "complex"), ("hard", "real")):
        g = f.hybrid(u, v, beta, k, gamma, blend=blend, field=field)
        assert (g.transpose(-2, -1) @ g - identity).abs().max() < 1e-12
    x = torch.randn(50, 6, 3, dtype=torch.float64)
    for blend, field in (("linear", "real"), ("hard", "real"), ("geodesic", "real"), ("geodesic", "complex")):
        made = f.hybrid(u, v, beta, k, gamma, blend=blend, field=field) @ x
        torch.testing.assert_close(f.hybrid(u, v, beta, k, gamma, x, blend, field), made, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(f.cayley(u, v, beta, x, "complex"), f.cayley(u, v, beta, field="complex") @ x)
    torch.testing.assert_close(f.householder(k, x, "complex"), f.householder(k, field="complex") @ x)


def test_the_hard_blend_has_the_gradient_of_the_linear_one():
    torch.manual_seed(0)
    f = edelta.functional
    arguments = [torch.randn(5, 4, dtype=torch.float64) for _ in range(2)]
    arguments += [torch.rand(5, 1, dtype=torch.float64), torch.randn(5, 4, dtype=torch.float64)]
    arguments = [a.requires_grad_() for a in (*arguments, torch.rand(5, 1, dtype=torch.float64))]
    weights = torch.randn(5, 4, 4, dtype=torch.float64)
    hard = torch.autograd.grad((f.hybrid(*arguments, blend="hard") * weights).sum(), arguments)
    linear = torch.autograd.grad((f.hybrid(*arguments) * weights).sum(), arguments)
    for a, b in zip(hard, linear):
        torch.testing.assert_close(a, b)
