"""Whole models: the program's outputs, files that both read, traces, golden traces."""

import copy
import json

import edelta
import numpy as np
import pytest
import torch
from torch import nn

SMALL = {"n_layer": 2, "n_embd": 16, "n_head": 2, "n_streams": 4, "block_size": 12, "input_dim": 5}
MODELS = ["gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"]
VARIANTS = (
    [{"model": m} for m in MODELS]
    + [{"model": m, "pool": p} for m in ("ddl", "edelta", "edelta-stream") for p in ("prefix", "token")]
    + [
        {"model": m, **o}
        for m in ("edelta", "edelta-stream")
        for o in (
            {"blend": "hard"},
            {"blend": "geodesic"},
            {"field": "complex"},
            {"branch": "cayley"},
            {"branch": "householder", "field": "complex", "blend": "geodesic"},
            {"branch": "none"},
            {"dropout": 0.2},
            {"generator": "fixed", "gate_regulariser": "entropy"},
            {"operator_init": "live"},
            {"gate_gradient": "gate", "init_gate_bias": 0.5, "gate_regulariser": "squared-product"},
        )
    ]
    + [
        {"model": "edelta", "projections": "mlp-post", "projection_factors": 3},
        {"model": "edelta", "projections": "off", "geo_hidden_ratio": 2},
        {"model": "gpt", "projections": "attention", "projection_factors": 2},
        {"model": "mhc", "sinkhorn_iterations": 3},
        {"model": "jpmhc", "cayley_alpha": 0.3, "cayley_iterations": 4, "n_streams": 2, "n_head": 4},
        {"model": "edelta", "n_embd": 64, "n_layer": 1, "block_size": 300},  # maps fold
    ]
)


def describe(options):
    return ",".join(str(v) for v in options.values())


def spread(model):
    """Parameters of a size at which every part matters, exactly representable in float32."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "alpha" in name or "norm" in name or "ln_" in name:
                p.copy_(1 + 0.2 * torch.randn_like(p))
            else:
                p.copy_(0.3 * (16 / model.config["n_embd"]) ** 0.5 * torch.randn_like(p))
    return model


def batch_for(model, length=None):
    torch.manual_seed(2)
    c = model.config
    length = length or c["block_size"]
    if c["head"] == "token":
        y = torch.randint(0, c["vocab_size"], (3, length))
        y[0, 0] = -1
        return torch.randint(0, c["vocab_size"], (3, length)), y
    return torch.randn(3, length, c["input_dim"]), torch.randn(3, length, c["input_dim"])


TOKEN_VARIANTS = [
    {
        "model": m,
        "head": "token",
        "vocab_size": 11,
        "bias": bias,
        **({"pool": "prefix"} if m in ("ddl", "edelta", "edelta-stream") else {}),
    }
    for m in MODELS
    for bias in (True, False)
]


def made(options):
    model = spread(edelta.Transformer({**SMALL, **options}))
    if options.get("blend") == "hard":
        # A gate near ½ would decide by rounding.
        with torch.no_grad():
            for name, p in model.named_parameters():
                if "gate_net.bias" in name or "geo_proj.2.bias" in name:
                    p[-1] = 3.0
    return model


@pytest.fixture(scope="module")
def reports(program, tmp_path_factory):
    """What the program says of a trace of every variant: one call for all, because each takes a while to start."""
    folder = tmp_path_factory.mktemp("traces")
    files = {}
    for options in VARIANTS + TOKEN_VARIANTS:
        model = made(options)
        files[describe(options)] = folder / f"{len(files)}.safetensors"
        edelta.trace(model, batch_for(model), files[describe(options)])
    found = {}
    for dtype, tolerance in (("float64", "1e-12"), ("float32", "1e-3")):
        said = program("parity", *files.values(), "--dtype", dtype, "--tolerance", tolerance, "--json", code=None)
        by_file = {report["file"]: report for report in json.loads(said)}
        found[dtype] = {name: by_file[str(file)] for name, file in files.items()}
    return found


@pytest.mark.parametrize("options", VARIANTS + TOKEN_VARIANTS, ids=describe)
def test_the_connections_are_the_programs(options, reports):
    """Outputs, losses, gates and every gradient to 1e-12 in float64 (gradients 1e-11); kernels in float32."""
    for dtype in ("float64", "float32"):
        report = reports[dtype][describe(options)]
        assert [c for c in report["comparisons"] if not c["holds"]] == []
        compared = {c["tensor"] for c in report["comparisons"]}
    model = edelta.Transformer({**SMALL, **options})
    names = {name for name, _ in model.named_parameters()}
    output = "logits" if options.get("head") == "token" else "output"
    assert {output, "loss"} | {f"grad/{n}" for n in names} <= compared
    assert ("gamma_per_layer" in compared) == model.is_gated()


def test_the_loss_of_tokens_is_that_of_the_logits():
    for options in TOKEN_VARIANTS[:4]:
        model = made(options)
        x, y = batch_for(model)
        expected = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=-1)
        torch.testing.assert_close(model.losses(x, y)["task"], expected)


@pytest.mark.parametrize("kind", ["forward", "token"])
@pytest.mark.parametrize("model", MODELS)
def test_golden_traces(kind, model, golden):
    """What the paper's own code computed, from Python alone."""
    name = {"gpt": "gpt2", "edelta-stream": "edelta_stream"}.get(model, model)
    tensors, metadata = torch.ops.edelta.read_safetensors(str(golden / f"{kind}_{name}.safetensors"))
    known = edelta.Transformer(model=model, **SMALL).config
    config = {k: v for k, v in metadata.items() if k in known}
    built = edelta.Transformer({**config, "model": model, "head": "token" if kind == "token" else "continuous"})
    built.double()
    own = dict(built.named_parameters())
    given = {k[6:].replace("core.", "", 1): v for k, v in tensors.items() if k.startswith("param/")}
    with torch.no_grad():
        for n, p in own.items():
            p.copy_(given[n])
    tokens = kind == "token"
    x, y = (tensors["idx"], tensors["targets"]) if tokens else (tensors["x"].double(), tensors["y"].double())
    output = built(x)
    expected = tensors["logits" if tokens else "output"].double()
    error = (output - expected).abs().max() / expected.abs().max()
    assert error < 1e-11
    losses = built.losses(x, y)
    gate = tensors["gate_loss"].item() if "gate_loss" in tensors else 0.0
    task, total = losses["task"].item(), sum(losses.values()).item()
    reported = tensors["loss"].item()
    if gate:
        assert losses["gate"].item() == pytest.approx(gate, rel=1e-10)
    # Some published models have the gate loss inside their loss, some never add it.
    separate = abs(reported - task) <= abs(reported - total)
    assert reported == pytest.approx(task if separate else total, rel=1e-10)
    objective = sum(losses.values()) if gate or not separate else losses["task"]
    objective.backward()
    for n, p in own.items():
        stored = tensors.get(f"grad/{n}", tensors.get(f"grad/core.{n}"))
        if stored is None:
            continue
        found = torch.zeros_like(p) if p.grad is None else p.grad
        scale = stored.double().abs().max().clamp_min(1e-300)
        assert (found - stored).abs().max() / scale < 1e-8, n
    if "gamma_per_layer" in tensors:
        means = torch.stack([g.mean() for g in built.gates()]).reshape(-1, 2).mean(1)
        torch.testing.assert_close(means.detach(), tensors["gamma_per_layer"].double().flatten())


def test_golden_operators(golden):
    tensors, _ = torch.ops.edelta.read_safetensors(str(golden / "operators.safetensors"))
    planes = [k[: -len("/u")] for k in tensors if k.startswith("cayley/") and k.endswith("/u")]
    assert planes
    for p in planes:
        q = edelta.functional.cayley(*(tensors[f"{p}/{part}"].double() for part in ("u", "v", "beta")))
        torch.testing.assert_close(q, tensors[f"{p}/Q"].double(), rtol=1e-10, atol=1e-10)
    y = edelta.functional.iterative_cayley(tensors["iterative_cayley/H"].double())
    torch.testing.assert_close(y, tensors["iterative_cayley/Y"].double(), rtol=1e-10, atol=1e-10)
    m = edelta.functional.sinkhorn(tensors["sinkhorn/logits"].double())
    torch.testing.assert_close(m, tensors["sinkhorn/M"].double(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", ["model.safetensors", "folder"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("model", ["gpt", "mhc", "edelta", "edelta-stream"])
def test_load_of_save_is_exact(model, dtype, form, tmp_path):
    built = edelta.Transformer(model=model, **SMALL).to(dtype)
    with torch.no_grad():
        for p in built.parameters():
            p.add_(torch.rand_like(p) / 3)
    edelta.save(built, tmp_path / form)
    again = edelta.load(tmp_path / form)
    assert again.config == built.config and not again.training
    own, other = dict(built.named_parameters()), dict(again.named_parameters())
    assert list(own) == list(other)
    for name, p in own.items():
        assert other[name].dtype == dtype and torch.equal(other[name], p), name
    with pytest.raises(FileExistsError, match="replace=True"):
        edelta.save(built, tmp_path / form)
    edelta.save(built, tmp_path / form, replace=True)


def test_save_leaves_a_run_alone(tmp_path):
    (tmp_path / "config.json").write_text("of a run")
    with pytest.raises(FileExistsError, match="a run perhaps"):
        edelta.save(edelta.Transformer(model="gpt", **SMALL), tmp_path, replace=True)
    assert (tmp_path / "config.json").read_text() == "of a run"
    assert not (tmp_path / "model.safetensors").exists()


def test_nothing_is_written_into_a_run(runs):
    model = edelta.load(runs / "mine")
    before = {file: file.read_bytes() for file in (runs / "mine").rglob("*") if file.is_file()}
    x = torch.zeros(1, 2, 6)
    for write in (
        lambda: edelta.save(model, runs / "mine" / "best", replace=True),
        lambda: edelta.save(model, runs / "mine" / "checkpoint"),
        lambda: edelta.save(model, runs / "mine" / "other.safetensors"),
        lambda: edelta.trace(model, (x, x), runs / "mine" / "best" / "model.safetensors", replace=True),
        lambda: edelta.trace(model, (x, x), runs / "mine" / "trace.safetensors"),
    ):
        with pytest.raises(FileExistsError, match="a run of edelta train"):
            write()
    assert before == {file: file.read_bytes() for file in (runs / "mine").rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def runs(program, tmp_path_factory):
    """Small runs of the program: on vectors, and on text."""
    folder = tmp_path_factory.mktemp("runs")
    program("data", "gyroscope", "--out", folder / "data", "--dim", 6, "--steps", 12, "--train", 32, "--val", 16)
    common = ("--preset", "smoke", "--iterations", 4, "--warmup", 1, "--eval-interval", 2, "--quiet")
    mine = ("--data", folder / "data", "--out", folder / "mine")
    program("train", "--model", "edelta", "--pool", "prefix", *mine, *common)
    (folder / "text.txt").write_text("the cat sat on the mat, the dog sat on the log. " * 40)
    program("text", folder / "text.txt", "--out", folder / "text", "--tokenizer", "chars")
    tiny = ("--layers", 2, "--width", 32, "--block", 16, "--batch", 8)
    program("train", "--model", "edelta", "--data", folder / "text", "--out", folder / "words", *tiny, *common[2:])
    return folder


def test_a_run_has_the_programs_outputs(runs, program, tmp_path):
    arrays = edelta.data.read(runs / "data")
    for weights in ("best", "last"):
        model = edelta.load(runs / "mine", weights)
        program(
            "predict", runs / "mine", "--weights", weights, "--input", runs / "data" / "val_x.npy",
            "--out", tmp_path / f"{weights}.npy",
        )
        with torch.no_grad():
            found = model(torch.from_numpy(arrays.val_x))
        np.testing.assert_allclose(found.numpy(), np.load(tmp_path / f"{weights}.npy"), rtol=1e-5, atol=1e-6)
    model = edelta.load(runs / "mine")
    loss = json.loads(program("eval", runs / "mine", "--json"))["loss"]
    found = model.losses(torch.from_numpy(arrays.val_x), torch.from_numpy(arrays.val_y))["task"]
    assert found.item() == pytest.approx(loss, rel=1e-5)
    assert len(model.operators()) == 2 * model.config["n_layer"]


def test_the_program_reads_what_python_writes(runs, program, tmp_path):
    model = edelta.load(runs / "mine")
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(1.5)
    arrays = edelta.data.read(runs / "data")
    expected = model.losses(torch.from_numpy(arrays.val_x), torch.from_numpy(arrays.val_y))["task"].item()
    for name in ("changed.safetensors", "changed"):
        edelta.save(model, tmp_path / name)
        found = json.loads(program("eval", tmp_path / name, "--data", runs / "data", "--json"))["loss"]
        assert found == pytest.approx(expected, rel=1e-5)
    program("eval", tmp_path / "changed", code=2)
    program("export", runs / "mine", "--out", tmp_path / "exported.safetensors")
    original = edelta.load(runs / "mine")
    exported = edelta.load(tmp_path / "exported.safetensors")
    for a, b in zip(original.parameters(), exported.parameters()):
        assert torch.equal(a, b)


def test_text_that_the_program_generates(runs, program, tmp_path):
    model = edelta.load(runs / "words")
    assert model.tokenizer is not None and model.config["head"] == "token"
    edelta.save(model, tmp_path / "words.safetensors")
    arguments = ("--prompt", "the cat", "--tokens", 12, "--seed", 3)
    assert program("generate", tmp_path / "words.safetensors", *arguments) == program(
        "generate", runs / "words", *arguments
    )
    loss = json.loads(program("eval", tmp_path / "words.safetensors", "--data", runs / "text", "--json"))["loss"]
    assert loss == pytest.approx(json.loads(program("eval", runs / "words", "--json"))["loss"], rel=1e-6)


def test_a_trace_of_anybodys_module(program, tmp_path):
    """A GPT of one's own, with names of one's own."""
    torch.manual_seed(0)
    width, heads, dim = 16, 2, 5

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn = nn.Linear(width, 3 * width, bias=False)
            self.c_proj = nn.Linear(width, width, bias=False)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = (p.view(b, t, heads, -1).transpose(1, 2) for p in self.c_attn(x).split(width, 2))
            scores = q @ k.transpose(-2, -1) / (width // heads) ** 0.5
            future = torch.ones(t, t, dtype=torch.bool).triu(1)
            y = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
            return self.c_proj(y.transpose(1, 2).reshape(b, t, width))

    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.pos_emb = nn.Parameter(torch.randn(1, 8, width))
            self.input_proj, self.output_proj = nn.Linear(dim, width), nn.Linear(width, dim)
            self.ln_1, self.ln_2, self.ln_f = (nn.Parameter(torch.rand(width) + 0.5) for _ in range(3))
            self.attn = Attention()
            self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

        def forward(self, x):
            norm = lambda x, w: nn.functional.layer_norm(x, (width,), w)  # noqa: E731
            x = self.input_proj(x) + self.pos_emb[:, : x.shape[1]]
            x = x + self.attn(norm(x, self.ln_1))
            x = x + self.down(nn.functional.gelu(self.up(norm(x, self.ln_2))))
            return (self.output_proj(norm(x, self.ln_f)), "and more")

    def published(name):
        renamed = {
            "ln_f": "transformer.ln_f.weight",
            "ln_1": "transformer.h.0.ln_1.weight",
            "ln_2": "transformer.h.0.ln_2.weight",
            "up.weight": "transformer.h.0.mlp.c_fc.weight",
            "down.weight": "transformer.h.0.mlp.c_proj.weight",
        }
        return renamed.get(name, f"transformer.h.0.{name}" if name.startswith("attn") else name)

    config = {"model": "gpt", "n_layer": 1, "n_embd": width, "n_head": heads, "block_size": 8, "input_dim": dim}
    batch = torch.randn(2, 7, dim), torch.randn(2, 7, dim)
    model = Mine()
    with pytest.raises(ValueError, match="config is missing"):
        edelta.trace(model, batch, tmp_path / "mine.safetensors")
    edelta.trace(model, batch, tmp_path / "mine.safetensors", config, published)
    with pytest.raises(FileExistsError, match="already there"):
        edelta.trace(model, batch, tmp_path / "mine.safetensors", config, published)
    edelta.trace(model, batch, tmp_path / "mine.safetensors", config, published, replace=True)
    program("parity", tmp_path / "mine.safetensors", "--dtype", "float64", "--tolerance", "1e-12")
    # A module that computes something else is found out.

    class Other(Mine):
        def forward(self, x):
            return 1.001 * super().forward(x)[0]

    edelta.trace(Other(), batch, tmp_path / "other.safetensors", config, published)
    program("parity", tmp_path / "other.safetensors", "--dtype", "float64", code=1)


def test_the_seed_decides_how_a_model_starts():
    model = edelta.Transformer(model="edelta", seed=7, **SMALL)
    other = edelta.Transformer(model="edelta", seed=8, **SMALL)
    same = edelta.Transformer(model="edelta", seed=7, **SMALL)
    for (name, a), (_, b), (_, c) in zip(*(m.named_parameters() for m in (model, same, other))):
        assert torch.equal(a, b)
        if "weight" in name and "ln_" not in name and "gate" not in name:
            assert not torch.equal(a, c)


def test_a_step_of_training():
    torch.manual_seed(0)
    model = edelta.Transformer(model="edelta", pool="prefix", **SMALL)
    batch = batch_for(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    first = None
    for _ in range(30):
        losses = model.losses(*batch)
        optimiser.zero_grad()
        sum(losses.values()).backward()
        optimiser.step()
        first = first or losses["task"].item()
    assert losses["task"].item() < 0.9 * first


@pytest.mark.parametrize("model", ["gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"])
def test_what_takes_a_parts_place_computes_and_is_saved(model, tmp_path):
    made = spread(edelta.Transformer(model=model, pool="prefix", **SMALL) if model not in ("gpt", "mhc", "jpmhc")
                  else edelta.Transformer(model=model, **SMALL))
    x, _ = batch_for(made)
    block = made.transformer["h"][0]
    for name, part in list(block.named_children()):
        before = made(x)
        other = copy.deepcopy(part)
        with torch.no_grad():
            for p in other.parameters():
                p.mul_(1.5).add_(0.01)
        setattr(block, name, other)
        found = made(x)
        assert not torch.equal(found, before), name
        assert {id(p) for p in other.parameters()} <= {id(p) for p in made.parameters()}
    edelta.save(made, tmp_path / "x.safetensors")
    torch.testing.assert_close(edelta.load(tmp_path / "x.safetensors")(x), made(x), rtol=0, atol=0)
    torch.testing.assert_close(copy.deepcopy(made)(x), made(x), rtol=0, atol=0)


def test_wrong_files_and_configurations(runs, tmp_path):
    with pytest.raises(RuntimeError, match="n_streams|streams"):
        edelta.Transformer(model="edelta", n_embd=16, n_streams=3)
    with pytest.raises(RuntimeError, match="must be one of"):
        edelta.Transformer(model="bert")
    with pytest.raises(RuntimeError, match="widht"):
        edelta.Transformer(model="gpt", widht=3)
    with pytest.raises(RuntimeError, match="no run|not|there"):
        edelta.load(tmp_path / "nothing")
    with pytest.raises(RuntimeError, match="best or last"):
        edelta.load(runs / "mine", "worst")
    with pytest.raises(TypeError, match="edelta.Transformer"):
        edelta.save(nn.Linear(2, 2), tmp_path / "x.safetensors")
    model = edelta.Transformer(model="gpt", **SMALL)
    edelta.save(model, tmp_path / "x.safetensors")
    damaged = bytearray((tmp_path / "x.safetensors").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "x.safetensors").write_bytes(damaged)
    with pytest.raises(RuntimeError, match="damaged"):
        edelta.load(tmp_path / "x.safetensors")
    with torch.no_grad():
        model.pos_emb[0, 0, 0] = float("nan")
    with pytest.raises(RuntimeError, match="not finite"):
        edelta.save(model, tmp_path / "nan.safetensors")
    assert not (tmp_path / "nan.safetensors").exists()
    with pytest.raises(ValueError, match="block_size is 12"):
        model(torch.randn(1, 13, 5))
    with pytest.raises(ValueError, match=r"\[B, T, 5\]"):
        model(torch.randn(1, 3, 4))
    with pytest.raises(ValueError, match=r"y must have the shape of x, \[2, 3, 5\], not \[1, 5\]"):
        model.losses(torch.randn(2, 3, 5), torch.randn(1, 5))
    tokens = edelta.Transformer(model="gpt", head="token", **SMALL)
    with pytest.raises(ValueError, match="int64"):
        tokens(torch.randn(1, 3))
    with pytest.raises(RuntimeError, match="vocabulary"):
        tokens(torch.full((1, 3), 256))


def test_dropout_in_training_only():
    torch.manual_seed(0)
    model = edelta.Transformer(model="edelta", dropout=0.3, pool="prefix", **SMALL)
    x, _ = batch_for(model)
    assert not torch.equal(model(x), model(x))
    model.eval()
    torch.testing.assert_close(model(x), model(x), rtol=0, atol=0)
