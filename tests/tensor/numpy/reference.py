"""Writes results.txt: results of tensor operations by NumPy in float64, for tests/tensor/numpy.rs, whose inputs follow the same formula.

    pip install numpy
    python tests/tensor/numpy/reference.py

Each line has a name and the elements of a result; for some, another line has the magnitudes that tolerances are relative to. Last run with
NumPy 2.4.6.
"""

import math
from pathlib import Path

import numpy as np

INF, NAN = np.inf, np.nan
MASK = (1 << 64) - 1
LINES = []


def numbers(n, seed, size):
    """Returns the pseudorandom float32 numbers of `naive::numbers`."""
    state = (seed * 0x9E3779B97F4A7C15) & MASK | 1
    found = np.empty(n, np.float32)
    for i in range(n):
        state ^= (state << 13) & MASK
        state ^= state >> 7
        state ^= (state << 17) & MASK
        found[i] = np.float32((state >> 40) / (1 << 23) - 1.0) * np.float32(size)
    return found


def write(name, values, magnitudes=None):
    LINES.append(f"{name}: {' '.join(repr(float(value)) for value in np.ravel(values))}")
    if magnitudes is not None:
        LINES.append(f"magnitudes of {name}: {' '.join(f'{value:.4g}' for value in np.ravel(magnitudes))}")


def below(x, value):
    """Returns a value, or its limit 0 at minus infinity."""
    return np.where(x == -INF, 0.0, value)


def erfc(x):
    return np.vectorize(math.erfc)(x)


def steps():
    wide = lambda x: np.float64(np.float32(x))
    one = {
        "Relu": lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)),
        "LeakyRelu(0.1)": lambda x: np.where(x < 0, wide(0.1) * x, x),
        "Elu(1.5)": lambda x: np.where(x < 0, 1.5 * np.expm1(x), x),
        "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "Tanh": np.tanh,
        "Swish": lambda x: below(x, x / (1 + np.exp(-x))),
        "Gelu": lambda x: below(x, x * 0.5 * erfc(-x / math.sqrt(2))),
        "GeluTanh": lambda x: below(x, x / (1 + np.exp(-2 * (math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))),
        "Clip(-1.0, 1.5)": lambda x: np.clip(x, -1, 1.5),
        "Scale(-2.5)": lambda x: -2.5 * x,
        "Offset(0.75)": lambda x: x + 0.75,
        "Exp": np.exp,
        "Log": np.log,
        "Log1p": np.log1p,
        "Sqrt": np.sqrt,
        "Abs": np.abs,
        "Reciprocal": lambda x: 1 / x,
    }
    two = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum, "Min": np.minimum}
    special = np.array([NAN, INF, -INF, 0.0, -0.0, 1e30, -1e30], np.float32)
    for i, (name, step) in enumerate([*one.items(), *two.items()]):
        x, y = numbers(24, i + 1, 4.0), numbers(31, i + 50, 3.0)
        if name in ("Sqrt", "Log"):
            x = np.abs(x) + np.float32(1e-6)
        elif name == "Log1p":
            x = np.maximum(x, np.float32(-0.9))
        else:
            x = np.concatenate([x, special])
        if name in ("Add", "Sub", "Offset(0.75)"):
            # Whole numbers, whose sums are exact.
            x, y = np.floor(x * 64), np.floor(y * 64)
        x, y = x.astype(np.float64), y[: len(x)].astype(np.float64)
        write(name, step(x) if name in one else step(x, y))


def reductions():
    # A view with permuted axes, [9, 5, 7], and a NaN in it.
    for has_nan in (False, True):
        x = numbers(315, 7, 3.0).astype(np.float64)
        if has_nan:
            x[17] = NAN
        x = x.reshape(5, 7, 9).transpose(2, 0, 1)
        for axes in ((1,), (0, 2), (0, 1, 2)):
            what = f"of axes {list(axes)}{' with NaN' if has_nan else ''}"
            write(f"Sum {what}", x.sum(axes), np.abs(x).sum(axes))
            write(f"Max {what}", x.max(axes))
            write(f"Min {what}", x.min(axes))
            write(f"SumOfSquares {what}", (x * x).sum(axes), (x * x).sum(axes))


def softmaxes():
    # Columns 2 to 15 of [6, 20].
    x = numbers(120, 12, 5.0)
    x[[25, 46, 90]] = [-INF, NAN, INF]
    x = x.reshape(6, 20)[:, 2:15].astype(np.float64)
    with np.errstate(invalid="ignore"):
        under = x - x.max(-1, keepdims=True)
    total = np.exp(under).sum(-1, keepdims=True)
    write("softmax", np.exp(under) / total)
    write("logarithm of softmax", under - np.log(total))


def products():
    # The transpose of [17, 33], and columns 3 to 32 of [17, 40].
    a, b = numbers(17 * 33, 21, 2.0), numbers(17 * 40, 22, 2.0)
    b[3 * 40 + 7] = INF
    b[5 * 40 + 9] = NAN
    a = a.reshape(17, 33).T.astype(np.float64)
    b = b.reshape(17, 40)[:, 3:32].astype(np.float64)
    terms = a[:, :, None] * b[None, :, :]
    write("matmul", terms.sum(1), np.abs(terms).sum(1))
    x, kernel = numbers(14 * 19, 23, 2.0).reshape(14, 19), numbers(15, 24, 2.0).reshape(3, 5)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 5)) * kernel.astype(np.float64)
    write("convolution", windows.sum((-2, -1)), np.abs(windows).sum((-2, -1)))


def norms():
    x = numbers(5 * 37, 70, 3.0).reshape(5, 37).astype(np.float64)
    weight, bias = (numbers(37, seed, 1.0).astype(np.float64) for seed in (71, 72))
    centred = x - x.mean(-1, keepdims=True)
    for name, rows, epsilon in (("RMS norm", x, 1e-5), ("layer norm", centred, 1e-3)):
        root = np.sqrt((rows**2).mean(-1, keepdims=True) + np.float64(np.float32(epsilon)))
        write(name, rows / root * weight + bias)


def rotary():
    # Rows 2 to 6 of the turns.
    x = numbers(5 * 3 * 8, 75, 3.0).reshape(5, 3, 8).astype(np.float64)
    turns = numbers(9 * 8, 76, 1.0).reshape(9, 1, 4, 2)[2:7].astype(np.float64)
    cos, sin = turns[..., 0], turns[..., 1]
    first, second = x[..., :4], x[..., 4:]
    parts = np.concatenate([first * cos, second * cos], -1), np.concatenate([-second * sin, first * sin], -1)
    write("rotary", parts[0] + parts[1], np.abs(parts[0]) + np.abs(parts[1]))


def attention():
    # Four heads of queries on two of keys.
    q = numbers(4 * 9 * 16, 80, 2.0).reshape(4, 9, 16).astype(np.float64)
    k, v = (numbers(2 * 12 * 16, seed, 2.0).reshape(2, 12, 16).astype(np.float64).repeat(2, 0) for seed in (81, 82))
    scores = q @ k.transpose(0, 2, 1) / 4
    query, key = np.arange(9)[:, None] + 3, np.arange(12)[None, :]
    for name, seen in (("attention", key >= 0), ("causal attention", key <= query), ("attention in a window", (key <= query) & (key > query - 5))):
        masked = np.where(seen, scores, -INF)
        weights = np.exp(masked - masked.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        write(name, weights @ v, weights @ np.abs(v))


def halves():
    # Every element is exact in float64; the test rounds nothing.
    x = np.concatenate([numbers(40, 90, 8.0), numbers(40, 91, 1e-6), numbers(20, 92, 1e5)])
    x = np.concatenate([x, np.array([NAN, INF, -INF, 0.0, 65519.0, 65520.0, -65536.0, 5.9604645e-8, 2.9802322e-8], np.float32)])
    with np.errstate(over="ignore"):
        write("F16", x.astype(np.float16))
    bits = x.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    write("BF16", np.where(np.isnan(x), x, rounded))


with np.errstate(all="ignore"):
    for part in (steps, reductions, softmaxes, products, norms, rotary, attention, halves):
        part()
(Path(__file__).parent / "results.txt").write_text("\n".join(LINES) + "\n")
