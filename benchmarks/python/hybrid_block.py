"""HybridResidual against the same block in PyTorch's ops, and what a call of an op costs.

    ./edelta python benchmarks/python/hybrid_block.py [--threads N] [--rounds N] [--cpu]

The block is that of the paper's sizes, D 128 with 4 streams on 64 × 255 tokens, forward and backward, around a GPT-2
MLP: the user's own (nn.Linear and GELU), and edelta.nn.MLP, which takes norm, residual and projections inside. The
two sides take turns, and the medians count. --cpu counts the process's own CPU time, for machines where others
compute too.
"""

import argparse
import statistics
import time

import edelta
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, STREAMS, BATCH, LENGTH = 128, 4, 64, 255


class TorchHybrid(nn.Module):
    """g = G_γ x, then g + H_post F(H_pre LN(g)), with PyTorch's ops alone."""

    def __init__(self, branch, pool):
        super().__init__()
        self.pool = pool
        self.u_net, self.v_net, self.k_net, self.beta_net = (self.net(n) for n in (STREAMS, STREAMS, STREAMS, 1))
        self.gate_net = nn.Linear(WIDTH, 1)
        self.h_pre, self.h_post = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.branch = branch

    @staticmethod
    def net(out):
        return nn.Sequential(nn.Linear(WIDTH, WIDTH // 4), nn.GELU(), nn.Linear(WIDTH // 4, out))

    def forward(self, x):
        if self.pool == "prefix":
            seen = x.cumsum(1) / torch.arange(1, x.size(1) + 1, dtype=x.dtype)[:, None]
        else:
            seen = x.mean(1, keepdim=True)
        u, v, k = self.u_net(seen), self.v_net(seen), F.normalize(self.k_net(seen), dim=-1)
        beta = F.softplus(self.beta_net(seen)).unsqueeze(-1)
        gamma = torch.sigmoid(self.gate_net(seen)).unsqueeze(-1)
        m = beta / 2 * (u.unsqueeze(-1) * v.unsqueeze(-2) - v.unsqueeze(-1) * u.unsqueeze(-2))
        identity = torch.eye(STREAMS)
        s = m.square().sum((-2, -1), keepdim=True) / 2
        q = identity - 2 / (1 + s) * (m - m @ m)  # the closed form; a solve would take longer
        h = identity - 2 * k.unsqueeze(-1) * k.unsqueeze(-2)
        g = gamma * q + (1 - gamma) * h
        mixed = (g @ x.unflatten(-1, (STREAMS, -1))).flatten(-2)
        return mixed + self.h_post(self.branch(self.h_pre(self.norm(mixed))))


def mlp():
    return nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH, bias=False))


def step(block, x, dy):
    block.zero_grad(set_to_none=True)
    block(x).backward(dy)


def seconds(call):
    start = clock()
    call()
    return clock() - start


def compare(name, ours, theirs, rounds):
    x = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    dy = torch.randn(BATCH, LENGTH, WIDTH)
    times = {"edelta": [], "torch": []}
    for _ in range(rounds + 1):
        times["edelta"].append(seconds(lambda: step(ours, x, dy)))
        times["torch"].append(seconds(lambda: step(theirs, x, dy)))
    own, other = (statistics.median(t[1:]) for t in times.values())
    print(f"{name}: edelta {1e3 * own:.1f} ms, torch {1e3 * other:.1f} ms, ratio {other / own:.2f}", flush=True)


def microseconds_a_call(call, count=5000):
    rounds = []
    for _ in range(7):
        start = clock()
        for _ in range(count):
            call()
        rounds.append((clock() - start) / count)
    return 1e6 * min(rounds)


def overhead():
    """The smallest input: what is left is the call itself. The empty op does nothing but make a tensor."""
    tiny = torch.zeros(1, 1, 2, 2)
    empty = microseconds_a_call(lambda: torch.ops.aten.empty_like(tiny))
    g, x = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1)
    for name, call in (
        ("sinkhorn", lambda: torch.ops.edelta.sinkhorn(tiny, 1)),
        ("stream_mix", lambda: torch.ops.edelta.stream_mix(g, x)),
        ("hybrid_matrix", lambda: torch.ops.edelta.hybrid_matrix(x, x, x, x, x)),
        ("sequence_mean", lambda: torch.ops.edelta.sequence_mean(x)),
    ):
        own = microseconds_a_call(call)
        print(f"{name}: {own:.1f} µs a call, {own - empty:.1f} over an empty op of {empty:.1f}", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=torch.get_num_threads())
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--cpu", action="store_true")
options = parser.parse_args()
clock = time.process_time if options.cpu else time.perf_counter
torch.set_num_threads(options.threads)
torch.manual_seed(0)
print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, {BATCH} x {LENGTH} tokens, D {WIDTH}")
for pool in ("prefix", "sequence"):
    for name, branch in (("a user's MLP", mlp()), ("edelta.nn.MLP", edelta.nn.MLP(WIDTH))):
        ours = edelta.nn.HybridResidual(WIDTH, STREAMS, branch, pool=pool)
        compare(f"pool {pool}, {name}", ours, TorchHybrid(mlp(), pool), options.rounds)
overhead()
