"""The connections as modules: around any layer, in any layout, looked at, differentiated, scripted."""

import copy
import warnings

import edelta
import pytest
import torch
from torch import nn
from torch.nn.utils import prune
from torch.utils.checkpoint import checkpoint

DIM, STREAMS = 16, 4


def hybrid(branch=None, **options):
    return edelta.nn.HybridResidual(DIM, STREAMS, branch or nn.Linear(DIM, DIM), **options)


def narrow_layer():
    return nn.Linear(DIM // STREAMS, DIM // STREAMS)


def all_modules(channels="last", pool="prefix", layer=nn.Linear):
    wide, thin = lambda: layer(DIM, DIM), lambda: layer(DIM // STREAMS, DIM // STREAMS)  # noqa: E731
    n = edelta.nn
    return {
        "plain": n.PlainResidual(DIM, wide(), channels=channels),
        "delta": n.DeltaResidual(DIM, wide(), pool, channels=channels),
        "mhc": n.MHCResidual(DIM, STREAMS, wide(), channels=channels),
        "jpmhc": n.JPMHCResidual(DIM, STREAMS, thin(), channels=channels),
        "hybrid": n.HybridResidual(DIM, STREAMS, wide(), pool, channels=channels),
        "hybrid-stream": n.HybridStreamResidual(DIM, STREAMS, thin(), pool, channels=channels),
    }


NAMES = list(all_modules())
every_module = pytest.mark.parametrize("name", NAMES)
VARIANTS = [
    {"blend": "hard"},
    {"blend": "geodesic"},
    {"field": "complex"},
    {"operator": "cayley"},
    {"operator_init": "live"},
    {"operator": "householder"},
    {"operator": "none"},
    {"generator": "fixed"},
    {"pool": "sequence"},
    {"pool": "token"},
    {"gate_gradient": "gate"},
    {"projections": False},
    {"projections": "pre", "projection_factors": 2},
    {"projection_init": "identity", "norm": nn.Identity()},
]
every_variant = pytest.mark.parametrize("options", VARIANTS, ids=lambda o: ",".join(f"{k}={v}" for k, v in o.items()))


@every_module
def test_shapes_and_gradients(name):
    torch.manual_seed(0)
    block = all_modules()[name]
    for shape in ((2, 5, DIM), (3, DIM), (2, 3, 4, DIM), (1, 1, DIM)):
        x = torch.randn(*shape, requires_grad=True)
        y = block(x)
        assert y.shape == x.shape
        (y.square().sum() + block.gate_loss()).backward()
        assert x.grad.isfinite().all()
    unused = [n for n, p in block.named_parameters() if p.grad is None]
    assert not unused
    assert all(p.grad.isfinite().all() for p in block.parameters())


@every_variant
def test_variants_by_gradcheck(options):
    torch.manual_seed(0)
    block = hybrid(init_std=0.5, **options).double()
    x = torch.randn(2, 3, DIM, dtype=torch.float64, requires_grad=True)
    if options.get("blend") == "hard":
        # Straight-through: not the gradient of what is computed. It is that of the linear blend's operator.
        assert block(x).shape == x.shape
        return

    def loss(x):
        return block(x) + block.gate_loss()

    assert torch.autograd.gradcheck(loss, (x,))


@every_variant
def test_float32_is_float64(options):
    torch.manual_seed(0)
    block = hybrid(init_std=0.3, **options)
    x = torch.randn(2, 7, DIM)
    y = block(x)
    with edelta.implementation("composite"):
        torch.testing.assert_close(block(x), y, rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(block.double()(x.double()), y.double(), rtol=2e-5, atol=2e-5)


def test_the_formula_of_the_hybrid():
    """HybridResidual step by step, with PyTorch alone."""
    torch.manual_seed(0)
    layer = nn.Linear(DIM, DIM)
    block = edelta.nn.HybridResidual(DIM, STREAMS, layer, pool="prefix", init_std=0.5, gate_bias=0.7).double()
    x = torch.randn(2, 5, DIM, dtype=torch.float64)
    mean = x.cumsum(1) / torch.arange(1, 6, dtype=torch.float64)[:, None]
    geo = block.geo
    u, v, k = (nn.Sequential.forward(net, mean) for net in (geo.u_net, geo.v_net, geo.k_net))
    beta = nn.functional.softplus(nn.Sequential.forward(geo.beta_net, mean)).unsqueeze(-1)
    gamma = torch.sigmoid(geo.gate_net(mean))
    m = beta / 2 * (u.unsqueeze(-1) * v.unsqueeze(-2) - v.unsqueeze(-1) * u.unsqueeze(-2))
    identity = torch.eye(STREAMS, dtype=torch.float64)
    q = torch.linalg.solve(identity + m, identity - m)
    k = nn.functional.normalize(k, dim=-1)
    h = identity - 2 * k.unsqueeze(-1) * k.unsqueeze(-2)
    g = gamma.unsqueeze(-1) * q + (1 - gamma.unsqueeze(-1)) * h
    mixed = (g @ x.reshape(2, 5, STREAMS, -1)).reshape(2, 5, DIM)
    normed = nn.functional.layer_norm(mixed, (DIM,), block.norm.weight)
    expected = mixed + block.h_post[0](layer(block.h_pre[0](normed)))
    torch.testing.assert_close(block(x), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(block.gate_loss(), 0.1 * (4 * gamma * (1 - gamma)).mean())
    torch.testing.assert_close(block.operators().matrix, g, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [edelta.nn.HybridResidual, edelta.nn.HybridStreamResidual])
@pytest.mark.parametrize("generator", ["data", "fixed"])
def test_a_live_rotation_turns_and_learns_from_the_start(make, generator):
    torch.manual_seed(0)
    x = torch.randn(2, 5, DIM)
    largest_gradient = {}
    for init in ("normal", "live"):
        width = DIM if make is edelta.nn.HybridResidual else DIM // STREAMS
        layer = nn.Linear(width, width)
        block = make(DIM, STREAMS, layer, operator="cayley", generator=generator, operator_init=init)
        turn = block.operators(x).angles.abs().max()
        assert turn > 0.05 if init == "live" else turn < 1e-2
        block(x).square().sum().backward()
        largest_gradient[init] = max(p.grad.abs().max() for p in block.geo.parameters())
    assert largest_gradient["live"] > 10 * largest_gradient["normal"]


def test_the_gates_penalty_reaches_the_gate_through_a_checkpoint_or_says_that_it_does_not():
    block, x = hybrid(), torch.randn(2, 5, DIM, requires_grad=True)

    def gradient(forward):
        block.zero_grad()
        (forward(x).square().sum() + block.gate_loss()).backward()
        return [p.grad.clone() for p in block.geo.parameters()]

    expected = gradient(block)
    kept = gradient(lambda x: checkpoint(block, x, use_reentrant=False))
    torch.testing.assert_close(kept, expected)
    with pytest.warns(UserWarning, match="use_reentrant=False"):
        gradient(lambda x: checkpoint(block, x, use_reentrant=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.no_grad():
            block(x)
            block.gate_loss()
        block.eval()
        block(x)
        block.gate_loss()


@every_module
def test_a_convolution_with_channels_first(name):
    torch.manual_seed(0)
    block = all_modules("first", layer=lambda i, o: nn.Conv2d(i, o, 3, padding=1))[name]
    x = torch.randn(2, DIM, 4, 5, requires_grad=True)
    y = block(x)
    assert y.shape == x.shape
    (y.square().mean() + block.gate_loss()).backward()
    assert x.grad.abs().sum() > 0
    assert all(p.grad is not None for p in block.parameters())


@every_module
def test_channels_first_is_channels_last_transposed(name):
    torch.manual_seed(0)

    class First(nn.Module):
        """A Linear over channels that come first."""

        def __init__(self, width, out):
            super().__init__()
            self.layer = nn.Linear(width, out)

        def forward(self, x):
            return self.layer(x.movedim(1, -1)).movedim(-1, 1)

    last = all_modules("last", layer=nn.Linear)[name].double()
    first = all_modules("first", layer=First)[name].double()
    state = {k.replace("branch.", "branch.layer."): v for k, v in last.state_dict().items()}
    first.load_state_dict(state)
    x = torch.randn(2, 3, 5, DIM, dtype=torch.float64)
    torch.testing.assert_close(first(x.movedim(-1, 1)).movedim(1, -1), last(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pool", ["prefix", "token", "sequence"])
@every_module
def test_what_is_causal(name, pool):
    torch.manual_seed(0)
    block = all_modules(pool=pool)[name]
    with torch.no_grad():
        for p in block.parameters():
            p.normal_()
    x = torch.randn(1, 6, DIM)
    other = x.clone()
    other[:, 4:] = torch.randn(1, 2, DIM)
    same = torch.allclose(block(x)[:, :4], block(other)[:, :4], atol=1e-5)
    assert same == (pool != "sequence" or name in ("plain", "mhc", "jpmhc"))


def test_a_norm_of_ones_own():
    torch.manual_seed(0)
    block = edelta.nn.HybridResidual(DIM, STREAMS, nn.Conv2d(DIM, DIM, 1), norm=nn.BatchNorm2d(DIM), channels="first")
    block(torch.randn(4, DIM, 3, 3)).sum().backward()
    assert block.norm.num_batches_tracked == 1
    block.operators(torch.randn(4, DIM, 3, 3))
    assert block.norm.num_batches_tracked == 1, "to look at operators is not a pass through the layer"


@pytest.mark.parametrize("name", ["mhc", "jpmhc", "hybrid", "hybrid-stream"])
def test_operators_answer_the_questions(name):
    torch.manual_seed(0)
    block = all_modules()[name]
    x = torch.randn(2, 5, DIM)
    (block(x).square().sum() + block.gate_loss()).backward()
    seen = block.operators(x)
    assert seen.matrix.shape == (2, 5, STREAMS, STREAMS)
    assert seen.applied > 0, "H_res is applied"
    assert seen.gradient_norm > 0, "it learns"
    assert -1 <= seen.stream_cosine < 0.9, "streams have not collapsed"
    assert seen.determinant.shape == (2, 5) and seen.angles.shape == (2, 5, STREAMS)
    assert "applied" in str(seen)
    if name == "mhc":
        torch.testing.assert_close(seen.matrix.sum(-1), torch.ones(2, 5, STREAMS), rtol=1e-3, atol=1e-3)


def test_operators_of_delta_act_on_the_whole_width():
    block = all_modules()["delta"]
    x = torch.randn(2, 5, DIM)
    block(x).sum().backward()
    seen = block.operators(x)
    assert seen.matrix is None and seen.applied > 0 and seen.gradient_norm > 0


def test_collapsed_streams_are_seen():
    block = hybrid(operator="cayley")
    x = torch.randn(2, 5, DIM // STREAMS).repeat(1, 1, STREAMS)
    with torch.no_grad():
        for p in block.geo.parameters():
            p.zero_()
    assert block.operators(x).stream_cosine == pytest.approx(1, abs=1e-5)
    assert block.operators(x).applied == pytest.approx(0, abs=1e-6)


def test_a_stream_of_zeros_has_no_part_in_the_cosine():
    still = edelta.nn.JPMHCResidual(DIM, STREAMS, narrow_layer(), alpha=0.0)
    equal = torch.randn(1, 1, DIM // STREAMS).repeat(1, 1, STREAMS)
    assert still.operators(equal).stream_cosine == pytest.approx(1)
    assert still.operators(torch.cat([equal, torch.zeros_like(equal)], 1)).stream_cosine == pytest.approx(0.5)
    one_is_zero = equal.clone()
    one_is_zero[..., : DIM // STREAMS] = 0
    assert still.operators(one_is_zero).stream_cosine == pytest.approx(0.5)


def test_bfloat16():
    for name, module in all_modules().items():
        x = torch.randn(2, 5, DIM).bfloat16().float()
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(p.bfloat16())
        expected = module(x)
        found = copy.deepcopy(module).bfloat16()(x.bfloat16())
        assert found.dtype == torch.bfloat16
        torch.testing.assert_close(found.float(), expected, rtol=0.05, atol=0.05, msg=name)


def test_looking_does_not_take_the_gate_away():
    block = hybrid()
    x = torch.randn(2, 5, DIM)
    block(x)
    block.operators(torch.randn(1, 2, DIM))
    block.gate_loss().backward()
    assert block.geo.gate_net.bias.grad is not None


def test_blends_that_are_orthogonal():
    x = torch.randn(2, 5, DIM)
    for options in ({"blend": "hard"}, {"blend": "geodesic"}, {"field": "complex"}, {"operator": "cayley"}):
        block = hybrid(init_std=1.0, **options)
        assert block.operators(x).orthogonality_error < 1e-5
    rotation = hybrid(operator="cayley", init_std=1.0).operators(x)
    torch.testing.assert_close(rotation.determinant, torch.ones(2, 5, dtype=torch.float64), rtol=1e-5, atol=1e-5)
    reflection = hybrid(operator="householder", init_std=1.0).operators(x)
    torch.testing.assert_close(reflection.determinant, -torch.ones(2, 5, dtype=torch.float64), rtol=1e-5, atol=1e-5)


def test_gate_losses():
    x = torch.randn(2, 5, DIM)
    for regulariser in ("product", "entropy", "squared-product", "min-distance"):
        block = hybrid(regulariser=regulariser, gate_weight=0.7, gate_bias=1.0)
        block(x)
        gamma = torch.sigmoid(torch.tensor(1.0))
        expected = 0.7 * torch.ops.edelta.gate_penalty(gamma, regulariser)
        torch.testing.assert_close(block.gate_loss(), expected)
    assert hybrid(blend="geodesic").gate_weight == 0
    assert hybrid(operator="cayley").gate_loss() == 0
    with pytest.raises(RuntimeError, match="before the first forward"):
        hybrid().gate_loss()


def test_the_gate_alone_may_be_penalised():
    x = torch.randn(2, 5, DIM, requires_grad=True)
    for kind, reaches in (("all", True), ("gate", False)):
        block = hybrid(gate_gradient=kind, gate_bias=1.0)
        nn.init.normal_(block.geo.gate_net.weight)
        block(x)
        (gradient,) = torch.autograd.grad(block.gate_loss(), x, allow_unused=True)
        assert (gradient is not None) == reaches


def test_it_learns():
    """Negation needs the reflection: a plain residual around nothing cannot."""
    torch.manual_seed(0)

    class Nothing(nn.Module):
        def forward(self, x):
            return torch.zeros_like(x)

    block = edelta.nn.HybridResidual(8, 4, Nothing(), pool="token", blend="geodesic", gate_bias=0.0)
    optimiser = torch.optim.AdamW(block.parameters(), lr=1e-2)
    losses = []
    for _ in range(200):
        x = torch.randn(64, 1, 8)
        loss = nn.functional.mse_loss(block(x), -x)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


@every_module
def test_copies_and_states(name):
    torch.manual_seed(0)
    block = all_modules()[name]
    x = torch.randn(2, 5, DIM)
    y = block(x)
    torch.testing.assert_close(copy.deepcopy(block.eval())(x), y, rtol=0, atol=0)
    other = all_modules()[name]
    other.load_state_dict(block.state_dict())
    torch.testing.assert_close(other(x), y, rtol=0, atol=0)
    assert "dim" not in block.state_dict() and str(DIM) in repr(block)


@every_module
def test_scripted(name):
    torch.manual_seed(0)
    for block, x in (
        (all_modules()[name], torch.randn(2, 5, DIM)),
        (all_modules("first", layer=lambda i, o: nn.Conv1d(i, o, 1))[name], torch.randn(2, DIM, 5)),
    ):
        scripted = torch.jit.script(block)
        torch.testing.assert_close(scripted(x), block(x))
        traced = torch.jit.trace(block, x, check_trace=False)
        torch.testing.assert_close(traced(x), block(x))


ENCLOSED = {
    "edelta.nn.MLP": lambda: edelta.nn.MLP(DIM),
    "edelta.nn.Attention": lambda: edelta.nn.Attention(DIM, 2, bias=True),
    "nn.Linear": lambda: nn.Linear(DIM, DIM),
    "Linear, GELU, Linear": lambda: nn.Sequential(nn.Linear(DIM, 40), nn.GELU(), nn.Linear(40, DIM)),
}


class Outside(nn.Module):
    """Hides what a layer is."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize("kind", ["hybrid", "plain", "delta", "mhc"])
@pytest.mark.parametrize("layer", ENCLOSED.values(), ids=list(ENCLOSED))
def test_layers_that_take_the_connection_inside(layer, kind):
    """They compute what a layer outside would, forward and backward, folded or not."""
    torch.manual_seed(0)
    make = {
        "hybrid": lambda layer: edelta.nn.HybridResidual(DIM, STREAMS, layer, init_std=0.3),
        "plain": lambda layer: edelta.nn.PlainResidual(DIM, layer),
        "delta": lambda layer: edelta.nn.DeltaResidual(DIM, layer),
        "mhc": lambda layer: edelta.nn.MHCResidual(DIM, STREAMS, layer),
    }[kind]
    enclosed = make(layer()).double()
    outside = make(Outside(layer())).double()
    assert enclosed.encloses or enclosed.around_mlp or enclosed.around_linear
    assert not (outside.encloses or outside.around_mlp or outside.around_linear)
    state = {k.replace("branch.", "branch.layer."): v for k, v in enclosed.state_dict().items()}
    outside.load_state_dict(state)
    for positions in (3, 150):
        x = torch.randn(1, positions, DIM, dtype=torch.float64)
        torch.testing.assert_close(enclosed(x), outside(x), rtol=1e-11, atol=1e-11)
        gradients = [
            torch.autograd.grad(block(x).square().sum(), list(block.parameters()), allow_unused=True)
            for block in (enclosed, outside)
        ]
        for a, b in zip(*gradients):
            if a is not None or b is not None:
                torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(torch.jit.script(enclosed)(x), outside(x), rtol=1e-11, atol=1e-11)


def test_a_layer_that_somebody_listens_to_is_called():
    block = edelta.nn.HybridResidual(DIM, STREAMS, nn.Sequential(nn.Linear(DIM, 8), nn.GELU(), nn.Linear(8, DIM)))
    x = torch.randn(2, 5, DIM)
    expected, heard = block(x), []
    handle = block.branch[1].register_forward_hook(lambda *_: heard.append(1))
    torch.testing.assert_close(block(x), expected, rtol=1e-5, atol=1e-5)
    assert heard == [1]
    handle.remove()
    block.branch[0] = Outside(block.branch[0])  # what stands in its place counts, not what stood there
    torch.testing.assert_close(block(x), expected, rtol=1e-5, atol=1e-5)


def test_norms_and_enclosed_layers_are_heard():
    x = torch.randn(2, 5, DIM)
    for layer in (edelta.nn.MLP(DIM), edelta.nn.Attention(DIM, 2), nn.Linear(DIM, DIM)):
        block = edelta.nn.HybridResidual(DIM, STREAMS, layer)
        expected = block(x)
        for part in (block.norm, block.branch):
            heard = []
            handle = part.register_forward_hook(lambda *_: heard.append(1))
            torch.testing.assert_close(block(x), expected, rtol=1e-5, atol=1e-5)
            assert heard == [1]
            handle.remove()


class Shifted(nn.Linear):
    def forward(self, x):
        return super().forward(x) + 3


def test_what_a_map_has_become_is_what_is_computed():
    """A map inside a layer that is exchanged, or is pruned, or has a forward of its own."""
    x = torch.randn(2, 5, DIM)
    for layer in (edelta.nn.MLP(DIM), edelta.nn.Attention(DIM, 2)):
        block = edelta.nn.PlainResidual(DIM, layer)
        before = block(x)
        shifted = Shifted(layer.c_proj.in_features, DIM, bias=False)
        shifted.weight = layer.c_proj.weight
        layer.c_proj = shifted
        torch.testing.assert_close(block(x), before + 3, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(layer(x), layer.around(x, *[None] * 5, 1) + 3, rtol=1e-5, atol=1e-5)
    linear = nn.Linear(DIM, DIM)
    block, own = edelta.nn.PlainResidual(DIM, linear), linear.forward
    linear.forward = lambda t: own(t) * 0
    torch.testing.assert_close(block(x), x)
    for block, part in (
        (edelta.nn.PlainResidual(DIM, edelta.nn.MLP(DIM)), lambda b: b.branch.c_fc),
        (hybrid(edelta.nn.MLP(DIM)), lambda b: b.h_pre[0]),
        (hybrid(nn.Tanh()), lambda b: b.h_post[0]),
    ):
        prune.l1_unstructured(part(block), "weight", amount=0.5)
        assert (part(block).weight == 0).float().mean() == 0.5
        for _ in range(2):  # the second step would meet the first one's graph
            block(x).square().mean().backward()
        gradient = part(block).weight_orig.grad
        assert ((gradient == 0) == (part(block).weight_mask == 0)).all()


def test_attention_takes_the_same_shapes_whoever_listens():
    for shape in ((2, DIM), (2, 3, DIM), (2, 3, 4, DIM)):
        block, x = hybrid(edelta.nn.Attention(DIM, 2)), torch.randn(shape)
        expected = block(x)
        block.branch.register_forward_hook(lambda *_: None)
        torch.testing.assert_close(block(x), expected, rtol=1e-5, atol=1e-5)


def test_a_layer_and_a_norm_may_be_exchanged():
    mlp = nn.Sequential(nn.Linear(DIM, 8), nn.GELU(), nn.Linear(8, DIM))
    x = torch.randn(2, 5, DIM)
    for first in (mlp, nn.Linear(DIM, DIM), edelta.nn.MLP(DIM), nn.Tanh()):
        for second in (mlp, nn.Linear(DIM, DIM), edelta.nn.MLP(DIM), nn.Tanh()):
            block = edelta.nn.PlainResidual(DIM, first)
            block.branch = second
            torch.testing.assert_close(block(x), x + second(block.norm(x)), rtol=1e-5, atol=1e-5)
            block.norm = nn.LayerNorm(DIM, eps=1.0)
            torch.testing.assert_close(block(x), x + second(block.norm(x)), rtol=1e-5, atol=1e-5)


def test_operators_that_are_not_finite_are_told():
    found = hybrid().operators(torch.full((1, 2, DIM), float("nan")))
    assert found.orthogonality_error != found.orthogonality_error and found.determinant is None
    assert "orthogonality error nan" in str(found)


def test_dropout_in_training_only():
    torch.manual_seed(0)
    for layer in (edelta.nn.MLP(DIM, dropout=0.5), edelta.nn.Attention(DIM, 2, dropout=0.5)):
        block = edelta.nn.PlainResidual(DIM, layer)
        x = torch.randn(2, 5, DIM)
        assert not torch.equal(block(x), block(x))
        block.eval()
        torch.testing.assert_close(block(x), block(x), rtol=0, atol=0)
