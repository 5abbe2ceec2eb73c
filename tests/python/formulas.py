"""The operators by their textbook formulas, in numpy float64: no closed form, no kernel."""

import numpy as np


def cayley(u, v, beta):
    """(I + M)⁻¹ (I − M) by a linear solve."""
    m = beta[..., None] / 2 * (u[..., :, None] * v[..., None, :] - v[..., :, None] * u[..., None, :])
    identity = np.eye(u.shape[-1])
    return np.linalg.solve(identity + m, identity - m)


def householder(k):
    unit = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return np.eye(k.shape[-1]) - 2 * unit[..., :, None] * unit[..., None, :]


def hybrid(u, v, beta, k, gamma):
    weight = gamma[..., None]
    return weight * cayley(u, v, beta) + (1 - weight) * householder(k)


def turn(u, k, gamma):
    """R_φ = e^{φ(a kᵀ − k aᵀ)} by its eigenvalues."""
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    a = u - (u * k).sum(-1, keepdims=True) * k
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    generator = a[..., :, None] * k[..., None, :] - k[..., :, None] * a[..., None, :]
    values, vectors = np.linalg.eig(np.pi * (1 - gamma[..., None]) * generator)
    return ((vectors * np.exp(values)[..., None, :]) @ np.linalg.inv(vectors)).real


def complex_of(x):
    return x[..., 0::2] + 1j * x[..., 1::2]


def real_of(matrix):
    """A complex matrix as blocks [[a, −b], [b, a]]."""
    m = matrix.shape[-1]
    out = np.empty(matrix.shape[:-2] + (2 * m, 2 * m))
    out[..., 0::2, 0::2] = out[..., 1::2, 1::2] = matrix.real
    out[..., 0::2, 1::2], out[..., 1::2, 0::2] = -matrix.imag, matrix.imag
    return out


def unitary_rotation(u, v, beta):
    u, v = complex_of(u), complex_of(v)
    m = beta[..., None] / 2 * (u[..., :, None] * v.conj()[..., None, :] - v[..., :, None] * u.conj()[..., None, :])
    identity = np.eye(u.shape[-1])
    return np.linalg.solve(identity + m, identity - m)


def unitary_phase(k, gamma):
    k = complex_of(k)
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    factor = np.exp(1j * np.pi * (1 - gamma[..., None])) - 1
    return np.eye(k.shape[-1]) + factor * k[..., :, None] * k.conj()[..., None, :]


def delta(k, beta, x):
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return x - beta * k * (k * x).sum(-1, keepdims=True)


def sinkhorn(z, iterations=20):
    m = np.exp(z)
    for _ in range(iterations):
        m = m / (m.sum(-1, keepdims=True) + 1e-8)
        m = m / (m.sum(-2, keepdims=True) + 1e-8)
    return m


def iterative_cayley(z, alpha=0.1, iterations=2, from_identity=False):
    w = z - np.swapaxes(z, -2, -1)
    identity = np.eye(z.shape[-1])
    y = identity if from_identity else identity + alpha * w
    for _ in range(iterations):
        y = identity + alpha / 2 * w @ (identity + y)
    return np.broadcast_to(y, z.shape)


def stream_mix(g, x):
    n = g.shape[-1]
    streams = x.reshape(x.shape[:-1] + (n, -1))
    return (g @ streams).reshape(x.shape)


def stream_aggregate(w, x):
    n = w.shape[-1]
    return (w[..., None] * x.reshape(x.shape[:-1] + (n, -1))).sum(-2)


def stream_update(h, x, w, y):
    n = w.shape[-1]
    mixed = x if h is None else stream_mix(h, x)
    repeated = y if y.shape == x.shape else np.concatenate([y] * n, -1)
    return mixed + (w[..., None] * repeated.reshape(x.shape[:-1] + (n, -1))).reshape(x.shape)


def prefix_mean(x):
    return np.stack([x[:, : t + 1].mean(1) for t in range(x.shape[1])], 1)


def softmax(z, axis):
    e = np.exp(z - z.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def token_mixers(z):
    pre = softmax(z[..., 0, :, :], -1).mean(-2)
    post = softmax(z[..., 1, :, :], -2).sum(-1)
    return [pre, post] + ([iterative_cayley(z[..., 2, :, :])] if z.shape[-3] == 3 else [])


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    y = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight
    return y if bias is None else y + bias


def rms_norm(x, weight):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight


def gelu(x):
    from math import erf

    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def causal_attention(qkv, heads):
    batch, length, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = (
        part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in np.split(qkv, 3, axis=-1)
    )
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads)
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    return (softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)


def token_losses(logits, target):
    chosen = np.take_along_axis(np.log(softmax(logits, -1)), np.maximum(target, 0)[..., None], -1)[..., 0]
    return np.where(target == -1, 0.0, -chosen)


def gate_penalty(gamma, regulariser):
    other = 1 - gamma
    return {
        "product": 4 * gamma * other,
        "entropy": -gamma * np.log(gamma) - other * np.log(other),
        "squared-product": (gamma * other) ** 2,
        "min-distance": np.minimum(gamma**2, other**2),
    }[regulariser]
