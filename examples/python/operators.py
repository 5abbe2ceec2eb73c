"""A walk through the operators: angles, determinants, the gate. Figures by gnuplot.

    ./edelta python examples/python/operators.py [FOLDER]
"""

import math
import subprocess
import sys
from pathlib import Path

import torch
from edelta import functional as f

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "operators")
folder.mkdir(parents=True, exist_ok=True)
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def figure(name, x, xlabel, ylabel, curves, more=""):
    """x and the curves, [steps] each, as folder/name.svg."""
    rows = "".join(" ".join(f"{c[i].item():.9g}" for c in (x, *curves.values())) + "\n" for i in range(len(x)))
    lines = ", ".join(f"$data using 1:{i + 2} with lines linewidth 2 title '{c}'" for i, c in enumerate(curves))
    script = f"""set terminal svg size 640,400
set output '{folder / name}.svg'
set xlabel '{xlabel}'
set ylabel '{ylabel}'
set key bottom right
{more}
$data << E
{rows}E
plot {lines}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    print(f"   figure: {folder / name}.svg")


def orthogonality_error(g):
    return (g.transpose(-2, -1) @ g - torch.eye(g.shape[-1])).abs().amax((-2, -1))


print("1. A Cayley rotation turns one plane, by an angle that grows with beta and never reaches pi.")
u, v = torch.randn(4), torch.randn(4)
beta = torch.logspace(-2, 3, 60).unsqueeze(-1)
q = f.cayley(u, v, beta)
angles = torch.linalg.eigvals(q).angle().abs().amax(-1)
area = (u.norm() ** 2 * v.norm() ** 2 - (u @ v) ** 2).sqrt()
print(f"   largest angle {angles.max():.4f}; by the formula 2 atan(beta |u^v| / 2), at most {2 * math.pi / 2:.4f}")
assert torch.allclose(angles, 2 * torch.atan(beta.squeeze() / 2 * area), atol=1e-7)
print(f"   determinants {torch.linalg.det(q).min():.6f} to {torch.linalg.det(q).max():.6f}")
print(f"   orthogonality error at most {orthogonality_error(q).max():.1e}, for beta from 0.01 to 1000")
figure("angle", beta.squeeze(), "beta", "angle of the rotation", {"largest angle": angles}, "set logscale x")

print("2. A Householder reflection negates one direction: determinant -1, which no rotation has.")
k = torch.randn(4)
h = f.householder(k)
print(f"   determinant {torch.linalg.det(h):.6f}, H k = {(h @ k / k).mean():.1f} k")

print("3. The gate joins the two. Linearly, something is lost half way; along the geodesic nothing is.")
gamma = torch.linspace(0, 1, 101).unsqueeze(-1)
one = torch.ones(1)
blends = {name: f.hybrid(u, v, one, k, gamma, blend=name) for name in ("linear", "hard", "geodesic")}
for name, g in blends.items():
    smallest = torch.linalg.svdvals(g).amin()
    error = orthogonality_error(g).max()
    print(f"   {name}: orthogonality error at most {error:.1e}, smallest singular value {smallest:.3f}")
figure(
    "gate",
    gamma.squeeze(),
    "gamma",
    "smallest singular value",
    {name: torch.linalg.svdvals(g)[:, -1] for name, g in blends.items()},
    "set yrange [-0.05:1.1]",
)
figure(
    "determinant", gamma.squeeze(), "gamma", "determinant", {n: torch.linalg.det(g) for n, g in blends.items()},
    "set yrange [-1.1:1.1]",
)

print("4. A regulariser pushes a linear gate to a decision: the distance from orthogonality is the paper's penalty.")
difference = (orthogonality_error(blends["linear"]) - f.product(gamma).squeeze()).max()
print(f"   max |error of the linear blend| minus 4 gamma (1 - gamma): at most {max(difference.item(), 0):.1e}")
inside = gamma[1:-1]
figure(
    "penalty",
    inside.squeeze(),
    "gamma",
    "penalty",
    {
        "product": f.product(inside).squeeze(),
        "entropy": f.entropy(inside).squeeze(),
        "squared product": f.squared_product(inside).squeeze(),
        "min distance": f.min_distance(inside).squeeze(),
    },
)

print("5. The peers: doubly stochastic, and nearly orthogonal.")
z = torch.randn(4, 4)
m, y = f.sinkhorn(z), f.iterative_cayley(z)
print(f"   Sinkhorn: rows sum to {m.sum(-1).min():.6f} to {m.sum(-1).max():.6f}, determinant {torch.linalg.det(m):.3f}")
print(f"   iterated Cayley: orthogonality error {orthogonality_error(y):.1e}")
