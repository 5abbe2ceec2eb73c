"""Whole models: the transformer of the edelta program, with the same parameters, files and outputs."""

import json
import os
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import torch
from torch import Tensor, nn

from . import _options
from . import nn as residual
from ._runs import refuse_runs
from .nn.connection import Connection
from .nn.norm import LayerNorm
from .nn.sublayers import MLP, Attention, SubLayer

PathLike = Union[str, "os.PathLike[str]"]

# Which of H_pre and H_post stand around a sub-layer.
_BOTH, _PRE, _POST = True, "pre", "post"
_PROJECTIONS: Dict[str, Dict[str, object]] = {
    "on": {"attn": _BOTH, "mlp": _BOTH},
    "off": {},
    "attention": {"attn": _BOTH},
    "attention-pre": {"attn": _PRE},
    "attention-post": {"attn": _POST},
    "mlp": {"mlp": _BOTH},
    "mlp-pre": {"mlp": _PRE},
    "mlp-post": {"mlp": _POST},
}
# Architectures whose sub-layers work at width D/n.
_NARROW = ("jpmhc", "edelta-stream")


def _layer_width(config: Mapping[str, Any]) -> int:
    narrow = config["model"] in _NARROW
    return config["n_embd"] // config["n_streams"] if narrow else config["n_embd"]


def _heads(width: int, heads: int) -> int:
    """At width D/n the configured number of heads may not divide: the largest one that does."""
    heads = min(heads, width)
    while width % heads != 0:
        heads -= 1
    return heads


def _projections(config: Mapping[str, Any], site: str) -> object:
    kind = config["projections"]
    if kind == "own":
        kind = "off" if config["model"] == "gpt" else "on"
    return _PROJECTIONS[kind].get(site, False)


def _connect(config: Mapping[str, Any], branch: SubLayer, site: str) -> Connection:
    """The architecture's connection around a sub-layer."""
    model, dim = config["model"], config["n_embd"]
    norm = LayerNorm(_layer_width(config), config["bias"])
    streams = config["n_streams"]
    operator = {
        "operator": config["branch"],
        "generator": config["generator"],
        "blend": config["blend"],
        "field": config["field"],
        "pool": config["pool"],
        "operator_init": config["operator_init"],
        "gate_bias": config["init_gate_bias"],
        "gate_weight": config["gate_reg_weight"],
        "regulariser": config["gate_regulariser"],
        "gate_gradient": config["gate_gradient"],
    }
    maps = {"projections": _projections(config, site), "projection_factors": config["projection_factors"]}
    if model == "gpt":
        if not maps["projections"]:
            return residual.PlainResidual(dim, branch, norm=norm)
        return residual.HybridResidual(dim, 1, branch, operator="none", norm=norm, **maps)
    if model == "ddl":
        hidden = dim // config["geo_hidden_ratio"]
        return residual.DeltaResidual(dim, branch, config["pool"], hidden=hidden, norm=norm)
    if model == "mhc":
        return residual.MHCResidual(dim, streams, branch, iterations=config["sinkhorn_iterations"], norm=norm)
    if model == "jpmhc":
        return residual.JPMHCResidual(
            dim,
            streams,
            branch,
            alpha=config["cayley_alpha"],
            iterations=config["cayley_iterations"],
            norm=norm,
        )
    if model == "edelta":
        hidden = dim // config["geo_hidden_ratio"]
        return residual.HybridResidual(dim, streams, branch, hidden=hidden, norm=norm, **operator, **maps)
    if model == "edelta-stream":
        hidden = config["geo_hidden_dim"]
        return residual.HybridStreamResidual(dim, streams, branch, hidden=hidden, norm=norm, **operator)
    raise ValueError(f"the architecture '{model}' is not known to Python")


class Block(nn.Module):
    """Attention, then MLP, each inside the architecture's connection.

    The connections' parts are registered under the published names ("geo_attn", "ln_1", "attn", ...), and the
    connections themselves, which have no parameters of their own, are not.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width, bias, dropout = _layer_width(config), config["bias"], config["dropout"]
        # Where a registered part stands in its connection: (connection, name, place in a list).
        self._places: Dict[str, Tuple[Connection, str, Optional[int]]] = {}
        attention = Attention(width, _heads(width, config["n_head"]), bias, dropout)
        self._connections = (
            self._add("attn", "ln_1", _connect(config, attention, "attn")),
            self._add("mlp", "ln_2", _connect(config, MLP(width, bias, dropout), "mlp")),
        )

    def _add(self, site: str, norm: str, connection: Connection) -> Connection:
        for name, part in connection.named_children():
            if isinstance(part, nn.ModuleList):
                for i, factor in enumerate(part):
                    self._register(f"{name}{i + 1 if i > 0 else ''}_{site}", factor, (connection, name, i))
            else:
                published = {"norm": norm, "branch": site}.get(name, f"{name}_{site}")
                self._register(published, part, (connection, name, None))
        return connection

    def _register(self, published: str, part: nn.Module, place: Tuple[Connection, str, Optional[int]]) -> None:
        self.add_module(published, part)
        self._places[published] = place

    def __setattr__(self, name: str, value: Any) -> None:
        """What takes a part's place computes in its place."""
        super().__setattr__(name, value)
        if name in self.__dict__.get("_places", {}):
            connection, part, i = self._places[name]
            if i is None:
                setattr(connection, part, value)
            else:
                getattr(connection, part)[i] = value

    def train(self, mode: bool = True) -> "Block":
        for connection in self._connections:
            connection.training = mode
        return super().train(mode)

    def forward(self, x: Tensor) -> Tensor:
        for connection in self._connections:
            x = connection(x)
        return x


class Transformer(nn.Module):
    """The transformer of the edelta program, for vectors or tokens, with any of its connections.

        model = edelta.Transformer(model="edelta", n_layer=2, n_embd=64, head="continuous", input_dim=8, pool="prefix")

    Options are those of a run's or model's config.json; what is not named has the program's default, and what the
    program would refuse is refused. Parameters have the published names and start as the program's do with this seed.

    - ``model(x)``: predictions [B, T, input_dim] for x of that shape (head "continuous"), or logits [B, T,
      vocab_size] for int64 tokens [B, T] (head "token").
    - ``model.losses(x, y)``: {"task": mean squared error or cross-entropy (targets −1 do not count), "gate": the gate
      loss where there are gates}; a training step minimises their sum.
    - ``model.gates()``, ``model.operators()``: of the last pass, layer by layer, attention first.
    - ``model.config``: every option.
    """

    def __init__(
        self,
        config: Optional[Mapping[str, Any]] = None,
        *,
        seed: int = 42,
        **options: Any,
    ) -> None:
        super().__init__()
        given = {**(config or {}), **options}
        self.config: Dict[str, Any] = json.loads(torch.ops.edelta.model_config(_options.to_json(given)))
        self.tokenizer: Optional[str] = None
        self._build()
        self._fill(torch.ops.edelta.initial_parameters(json.dumps(self.config), seed))

    @classmethod
    def _loaded(cls, config: str, parameters: Mapping[str, Tensor]) -> "Transformer":
        model = cls.__new__(cls)
        nn.Module.__init__(model)
        model.config = json.loads(config)
        model.tokenizer = None
        model._build()
        model._fill(parameters)
        return model

    def _build(self) -> None:
        c = self.config
        width = c["n_embd"]
        parts: Dict[str, nn.Module] = {}
        if c["head"] == "continuous":
            self.pos_emb = nn.Parameter(torch.empty(1, c["block_size"], width))
            self.input_proj = nn.Linear(c["input_dim"], width)
            self.output_proj = nn.Linear(width, c["input_dim"])
        else:
            parts["wte"] = nn.Embedding(c["vocab_size"], width)
            parts["wpe"] = nn.Embedding(c["block_size"], width)
        parts["h"] = nn.ModuleList(Block(c) for _ in range(c["n_layer"]))
        parts["ln_f"] = LayerNorm(width, c["bias"])
        self.transformer = nn.ModuleDict(parts)

    def _fill(self, parameters: Mapping[str, Tensor]) -> None:
        own = dict(self.named_parameters())
        if own.keys() != set(parameters.keys()):
            differing = sorted(own.keys() ^ set(parameters.keys()))
            raise RuntimeError(f"the model's parameters differ from the program's: {', '.join(differing[:4])}")
        for name, parameter in own.items():
            parameter.data = parameters[name].detach().clone()

    def connections(self) -> Iterator[Connection]:
        """Every connection, attention before MLP, layer by layer."""
        for block in self.transformer["h"]:
            yield from block._connections

    def _embed(self, x: Tensor) -> Tensor:
        c = self.config
        if c["head"] == "token":
            if x.dim() != 2 or x.dtype != torch.int64:
                raise ValueError(f"tokens must be an int64 tensor [B, T], not {x.dtype} of shape {list(x.shape)}")
        elif x.dim() != 3 or x.size(-1) != c["input_dim"]:
            raise ValueError(f"x must have the shape [B, T, {c['input_dim']}], not {list(x.shape)}")
        if x.size(1) > c["block_size"]:
            raise ValueError(f"a sequence has {x.size(1)} positions, but block_size is {c['block_size']}")
        if c["head"] == "token":
            y = torch.ops.edelta.embedding(x, self.transformer["wte"].weight, self.transformer["wpe"].weight)
        else:
            y = self.input_proj(x) + self.pos_emb[:, : x.size(1)]
        return nn.functional.dropout(y, c["dropout"], self.training)

    def _features(self, x: Tensor) -> Tensor:
        """What the last block leaves."""
        x = self._embed(x)
        for block in self.transformer["h"]:
            x = block(x)
        return x

    def _predict(self, features: Tensor) -> Tensor:
        norm = self.transformer["ln_f"]
        if self.config["head"] == "token":
            weight, bias = self.transformer["wte"].weight, None
        else:
            weight, bias = self.output_proj.weight, self.output_proj.bias
        return torch.ops.edelta.linear(features, weight, bias, norm.weight, norm.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self._predict(self._features(x))

    def losses(self, x: Tensor, y: Tensor) -> Dict[str, Tensor]:
        """The task's loss and, where there are gates, the gate loss. Logits of all tokens are never in memory."""
        features = self._features(x)
        if self.config["head"] == "token":
            norm = self.transformer["ln_f"]
            task = torch.ops.edelta.cross_entropy(
                features, self.transformer["wte"].weight, y, None, norm.weight, norm.bias
            )
        else:
            if y.shape != x.shape:
                raise ValueError(f"y must have the shape of x, {list(x.shape)}, not {list(y.shape)}")
            task = nn.functional.mse_loss(self._predict(features), y)
        return {"task": task, "gate": self.gate_loss()} if self.is_gated() else {"task": task}

    def is_gated(self) -> bool:
        """Whether the operators have gates."""
        return any(getattr(connection, "is_gated", False) for connection in self.connections())

    def gates(self) -> List[Tensor]:
        """γ of every operator in the last pass; empty without gates."""
        return [c._seen.gamma for c in self.connections() if c._seen.gamma is not None]

    def gate_loss(self) -> Tensor:
        """``λ · Σ over operators of mean R(γ)`` of the last pass; 0 without gates."""
        losses = [c.gate_loss() for c in self.connections() if getattr(c, "is_gated", False)]
        return torch.stack(losses).sum() if losses else torch.zeros(())

    def operators(self) -> List[residual.Operators]:
        """What the residual operators did in the last pass."""
        return [connection.operators() for connection in self.connections()]


def load(path: PathLike, weights: str = "best") -> Transformer:
    """A model from a run folder of ``edelta train``, or from a file or folder that ``edelta export`` or ``save`` wrote.

    weights: of a run, "best" (lowest validation loss) or "last". The model is in evaluation mode; its outputs are the
    program's. What is damaged, missing or of another run is an error that says so.
    """
    path = os.fspath(path)
    config, parameters, tokenizer, notices = torch.ops.edelta.load_model(path, weights)
    for notice in notices:
        warnings.warn(notice, stacklevel=2)
    model = Transformer._loaded(config, parameters)
    model.tokenizer = tokenizer or None
    return model.eval()


def save(model: Transformer, path: PathLike, replace: bool = False) -> None:
    """Writes a model for ``edelta eval`` and ``generate``, and for ``load``: one file if the name ends in
    .safetensors, else a folder with model.safetensors and config.json. What is there stays unless replace is set; a
    run folder, and what is in it, stays in any case.

    ``load`` gives back the same bits, in float64 too; the program computes in float32.
    """
    if not isinstance(model, Transformer):
        raise TypeError(f"save takes an edelta.Transformer, not {type(model).__name__}; edelta.trace takes any module")
    path = os.fspath(path)
    taken = path if path.endswith(".safetensors") else os.path.join(path, "model.safetensors")
    if os.path.exists(taken) and not replace:
        raise FileExistsError(f"{taken} is already there; replace=True writes over it")
    refuse_runs(taken)
    if not os.path.exists(taken) and os.path.exists(os.path.join(path, "config.json")):
        raise FileExistsError(f"{path} has a config.json of something else than a saved model, a run perhaps; it stays")
    parameters = {name: p.detach().cpu() for name, p in model.named_parameters()}
    torch.ops.edelta.save_model(path, json.dumps(model.config), parameters, model.tokenizer or "")
