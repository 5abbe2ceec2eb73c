"""Geometric residual connections for PyTorch.

A residual connection ``x + layer(norm(x))`` carries x through a network unchanged. The connections
here carry it through an operator instead: an exact Cayley rotation and a Householder reflection of
n streams, joined by a learned gate (EΔ), or one of its peers (DDL, mHC, JPmHC).

    import edelta

    block = edelta.nn.HybridResidual(128, streams=4, branch=my_layer, pool="prefix")
    y = block(x)                                    # in place of x + my_layer(norm(x))
    loss = task_loss + block.gate_loss()
    print(block.operators(x))                       # angles, determinant, gate, ...

    model = edelta.load("runs/mine")                # a run of the edelta program as an nn.Module
    edelta.save(model, "model.safetensors")         # for edelta eval, generate
    edelta.trace(model, (x, y), "trace.safetensors")  # for edelta parity

- ``edelta.functional``  the operators alone: cayley, householder, hybrid, delta, sinkhorn, ...
- ``edelta.nn``          modules that wrap any nn.Module
- ``edelta.load``, ``save``, ``trace``, ``Transformer``   whole models
- ``edelta.data``        the tasks as arrays or as a torch Dataset
- ``torch.ops.edelta``   every op as the dispatcher has it

float32 on the CPU is computed by fused kernels; other dtypes and devices by the same formulas written
with PyTorch's own ops. ``edelta.implementation("composite")`` asks for the latter everywhere.
"""

from ._library import __version__, has_kernels, implementation
from . import data, functional, nn
from .models import Transformer, load, save
from .traces import trace

__all__ = [
    "Transformer",
    "__version__",
    "data",
    "functional",
    "has_kernels",
    "implementation",
    "load",
    "nn",
    "save",
    "trace",
]
