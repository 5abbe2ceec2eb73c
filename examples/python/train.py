"""A transformer of one's own, trained with HybridResidual and with the plain residual, on text or on gyroscope.

    ./edelta python examples/python/train.py [--text FILE] [--steps N] [--out figure.svg]

gnuplot draws the figure.
"""

import argparse
import subprocess
import sys

import edelta
import torch
from torch import nn

WIDTH, HEADS, LAYERS, LENGTH = 64, 4, 3, 64


class Attention(nn.Module):
    """Any module that keeps its input's shape will do; this one is PyTorch's own attention with a causal mask."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, x):
        future = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        return self.attention(x, x, x, attn_mask=future, need_weights=False)[0]


def mlp():
    return nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))


def transformer(connect, first, outputs):
    """`connect` is all that differs between the two models."""
    blocks = [connect(branch) for _ in range(LAYERS) for branch in (Attention(), mlp())]
    return nn.Sequential(first, *blocks, nn.LayerNorm(WIDTH), nn.Linear(WIDTH, outputs))


def train(name, model, batch, loss_of, steps):
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
    connections = [m for m in model.modules() if isinstance(m, edelta.nn.Connection)]
    losses = []
    for step in range(steps):
        x, y = batch(step)
        task = loss_of(model(x), y)
        optimiser.zero_grad()
        (task + sum(c.gate_loss() for c in connections)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(task.item())
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            print(f"{name}: step {step}, loss {losses[-1]:.4g}", flush=True)
    print(f"{name}: {connections[0].operators()}")
    return losses


def plot(path, curves):
    data = "".join(f"${n} << E\n" + "".join(f"{i} {v}\n" for i, v in enumerate(c)) + "E\n" for n, c in curves.items())
    lines = ", ".join(f"${name} with lines linewidth 2 title '{name}'" for name in curves)
    script = f"set terminal svg\nset output '{path}'\nset logscale y\nset xlabel 'step'\nset ylabel 'loss'\n"
    subprocess.run(["gnuplot"], input=script + data + f"plot {lines}\n", text=True, check=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--text", help="learn this file byte by byte, in place of gyroscope")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--out", default="train.svg")
options = parser.parse_args()

if options.text:
    text = torch.frombuffer(bytearray(open(options.text, "rb").read()), dtype=torch.uint8).long()
    if len(text) <= LENGTH:
        sys.exit(f"{options.text} has only {len(text)} bytes")
    first, outputs = lambda: nn.Embedding(256, WIDTH), 256

    def batch(step):
        start = torch.randint(0, len(text) - LENGTH, (16,), generator=torch.Generator().manual_seed(step))
        windows = torch.stack([text[s : s + LENGTH + 1] for s in start])
        return windows[:, :-1], windows[:, 1:]

    def loss_of(logits, y):
        return nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
else:
    data = edelta.data.Sequences("gyroscope", steps=LENGTH, train=512, val=1)
    first, outputs, loss_of = lambda: nn.Linear(16, WIDTH), 16, nn.functional.mse_loss

    def batch(step):
        rows = torch.randint(0, len(data), (16,), generator=torch.Generator().manual_seed(step))
        return data.x[rows], data.y[rows]


curves = {}
for name, connect in {
    "hybrid": lambda branch: edelta.nn.HybridResidual(WIDTH, streams=4, branch=branch, pool="prefix", blend="geodesic"),
    "plain": lambda branch: edelta.nn.PlainResidual(WIDTH, branch),
}.items():
    torch.manual_seed(0)
    curves[name] = train(name, transformer(connect, first(), outputs), batch, loss_of, options.steps)
plot(options.out, curves)
print(f"both curves are in {options.out}")
