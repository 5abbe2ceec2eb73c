"""A training step of `gpt` against the same step of a GPT in PyTorch's ops, as nanoGPT writes it.

    ./edelta python benchmarks/python/gpt_step.py [--width 128] [--layers 9] [--batch 16] [--length 128] [--vocab 73]

Forward, backward, clipped gradient, AdamW; the same parameters, float32. `edelta bench` runs as a
program of its own: the two take turns, --rounds times, and the fastest step of each counts. The defaults are the
preset chars on the King James Bible.
"""

import argparse
import json
import os
import subprocess
import time

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (y.view(batch, length, self.heads, -1).transpose(1, 2) for y in self.c_attn(x).split(width, -1))
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
            scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
            y = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = SelfAttention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, vocab, length):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens, target):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.size(1)))
        logits = F.linear(self.ln_f(self.blocks(x)), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def torch_seconds(model, optimiser, tokens, repetitions):
    fastest = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        model(tokens[:, :-1], tokens[:, 1:]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def edelta_step(options):
    words = f"bench --models gpt --compare none --json --layers {options.layers} --width {options.width}"
    words += f" --batch {options.batch} --length {options.length} --vocab {options.vocab}"
    words += f" --repetitions {options.repetitions} --threads {options.threads}"
    out = subprocess.run([options.program, *words.split()], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)["results"][0]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name, value in {"width": 128, "layers": 9, "heads": 4, "batch": 16, "length": 128, "vocab": 73}.items():
    parser.add_argument(f"--{name}", type=int, default=value)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--repetitions", type=int, default=5)
library = os.environ.get("EDELTA_LIBRARY", "build/release/python/libedelta_torch.so")
parser.add_argument("--program", default=os.path.join(os.path.dirname(library), "..", "edelta"))
options = parser.parse_args()

torch.set_num_threads(options.threads)
torch.manual_seed(0)
model = Gpt(options.layers, options.width, options.heads, options.vocab, options.length)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
tokens = torch.randint(options.vocab, (options.batch, options.length + 1))
own, other, share = float("inf"), float("inf"), 0.0
for _ in range(options.rounds):
    ours = edelta_step(options)
    own, share = min(own, ours["fused"]["step_s"]), max(share, ours["share_of_peak"])
    other = min(other, torch_seconds(model, optimiser, tokens, options.repetitions))
parameters = sum(p.numel() for p in model.parameters())
print(f"PyTorch {torch.__version__}, {options.threads} threads, {parameters} parameters, {options.batch} x {options.length} tokens")
print(f"edelta {1e3 * own:.1f} ms ({100 * share:.0f} % of the FMA peak), torch {1e3 * other:.1f} ms, ratio {other / own:.2f}")
