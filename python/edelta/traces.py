"""Traces: what a module computed, for ``edelta parity`` to compute again and compare."""

import copy
import os
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

import torch
from torch import Tensor, nn

from ._runs import refuse_runs
from .nn.connection import Connection

_IGNORED_TARGET = -1


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _total_gate_loss(model: nn.Module) -> Optional[Tensor]:
    if hasattr(model, "gate_loss"):
        return model.gate_loss()
    losses = [module.gate_loss() for module in model.modules() if isinstance(module, Connection)]
    return torch.stack(losses).sum() if losses else None


def _output(result: Any) -> Tensor:
    """What a module returns is its output, or the first of several things."""
    if isinstance(result, (tuple, list)):
        result = result[0]
    if not isinstance(result, Tensor):
        raise TypeError(f"the module must return a tensor, or one first, not {type(result).__name__}")
    return result


def trace(
    model: nn.Module,
    batch: Tuple[Tensor, Tensor],
    path: Union[str, "os.PathLike[str]"],
    config: Optional[Mapping[str, Any]] = None,
    names: Optional[Callable[[str], str]] = None,
    dtype: torch.dtype = torch.float64,
    replace: bool = False,
) -> None:
    """Writes what model makes of a batch, as a trace that ``edelta parity`` rebuilds and compares.

    model   an edelta.Transformer, or any module of yours whose parameters have, or are renamed to, the published names
    batch   (x, y): x, y [B, T, input_dim] floating, or tokens and targets [B, T] int64 (target −1 does not count)
    path    of the .safetensors file to write
    config  the architecture and its sizes ({"model": "gpt", "n_layer": 2, ...}, docs/traces.md has the keys); not
            needed for an edelta.Transformer
    names   from a name of model.named_parameters() to the published one
    dtype   to compute in, on a copy of the model: float64 is the strictest check
    replace whether to write over a file that is there; what is in a run folder stays in any case

    The trace has x, y, output, loss (mean squared error or cross-entropy), the gate loss where there is one, every
    parameter and the gradient of loss + gate loss for each. The copy is in evaluation mode, so that nothing is dropped.
    """
    if config is None:
        config = getattr(model, "config", None)
        if not isinstance(config, Mapping):
            raise ValueError("config is missing: a trace of your own module must name its architecture and sizes")
    if "model" not in config:
        raise ValueError("config must have a 'model': the architecture's name")
    path = os.fspath(path)
    if os.path.exists(path) and not replace:
        raise FileExistsError(f"{path} is already there; replace=True writes over it")
    refuse_runs(path)
    x, y = batch
    tokens = not x.is_floating_point()
    stored: Dict[str, Tensor] = {name: p.detach().clone() for name, p in model.named_parameters()}
    # In evaluation mode: what dropout left out, nobody could rebuild.
    twin = copy.deepcopy(model).to(dtype).eval()
    twin.zero_grad(set_to_none=True)
    output = _output(twin(x if tokens else x.to(dtype)))
    if tokens:
        loss = nn.functional.cross_entropy(output.flatten(0, -2), y.flatten(), ignore_index=_IGNORED_TARGET)
    else:
        loss = nn.functional.mse_loss(output, y.to(dtype))
    gate_loss = _total_gate_loss(twin)
    total = loss if gate_loss is None else loss + gate_loss
    total.backward()

    tensors = {"idx" if tokens else "x": x, "targets" if tokens else "y": y}
    tensors["logits" if tokens else "output"] = output.detach()
    tensors["loss"] = loss.detach().reshape(1)
    if gate_loss is not None:
        tensors["gate_loss"] = gate_loss.detach().to(dtype).reshape(1)
    gates = twin.gates() if hasattr(twin, "gates") else []
    if gates:
        means = torch.stack([gate.detach().mean() for gate in gates])
        tensors["gamma_per_layer"] = means.reshape(-1, 2).mean(1)
    for name, parameter in twin.named_parameters():
        published = names(name) if names is not None else name
        tensors[f"param/{published}"] = stored[name]
        tensors[f"grad/{published}"] = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    metadata = {key: _text(value) for key, value in config.items()}
    metadata.setdefault("head", "token" if tokens else "continuous")
    if "dropout" in metadata:
        metadata["dropout"] = "0"
    torch.ops.edelta.write_safetensors(path, {n: t.cpu() for n, t in tensors.items()}, metadata)
