"""Right and wrong mechanisms, side by side: what an auditor must catch, and must not.

Each has `many(data, n)`, pairs of inputs and a claim. The naive ones draw from numpy, as their
models in the wild do; the right ones that release numbers draw exact noise, because numpy's
own would be caught by its last bits, and rightly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable import (
    ApproximateLoss,
    Gaussian,
    GaussianLoss,
    Laplace,
    PureLoss,
    RandomizedResponse,
)

RANDOM = np.random.default_rng
ONE = PureLoss(1)


@dataclass(frozen=True)
class Case:
    """A mechanism as a user would hand it over."""

    name: str
    many: Callable[[Any, int], Any]
    neighbors: list
    claim: Any = ONE

    def __call__(self, data):
        return self.many(data, 1)[0]


def laplace(scale, shape):
    return RANDOM().laplace(scale=scale, size=shape)


def whole(epsilon, shape):
    """Exact integer noise, where the last bits must not be what gives a mechanism away."""
    return Laplace(epsilon=epsilon).release(np.zeros(shape, dtype=np.int64))


# The sparse vector technique: which of ten queries exceed a noisy threshold, three at most.
QUERIES = [([0] * 10, [1] * 10), ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5)]
COUNT = 3


def sparse_vector(query_scale: float, threshold_scale: float = 2.0):
    """Above (1) or below (0) the threshold of 1, until three are above; then stop (-1)."""

    def many(data, n):
        threshold = 1 + laplace(threshold_scale, (n, 1))
        noise = laplace(query_scale, (n, len(data))) if query_scale else 0
        above = np.asarray(data) + noise >= threshold
        stopped = np.cumsum(above, axis=1) - above >= COUNT
        return np.where(stopped, -1, above.astype(np.int64))

    return many


def sparse_vector_with_values(data, n):
    """Prints what it compared for the first above, and stops (Roth's notes of 2011)."""
    threshold = 1 + whole(0.5, (n, 1))
    noisy = np.asarray(data) + whole(0.5, (n, len(data)))
    above = noisy >= threshold
    first = np.where(above.any(axis=1), np.argmax(above, axis=1), len(data))
    return [
        (*["below"] * int(at), int(row[at])) if at < len(data) else ("below",) * len(data)
        for at, row in zip(first, noisy, strict=True)
    ]


def sparse_vector_first(data, n):
    """The index of the first above, and nothing else: private at epsilon 1."""
    threshold = 1 + laplace(2.0, (n, 1))
    above = np.asarray(data) + laplace(4.0, (n, len(data))) >= threshold
    return np.where(above.any(axis=1), np.argmax(above, axis=1), len(data))


SCORES = [([0, 0, 0, 0, 0], [1, 1, 1, 1, 1]), ([1, 0, 0, 0, 0], [0, 1, 1, 1, 1])]


def noisy_max(data, n):
    return np.argmax(np.asarray(data) + laplace(2.0, (n, len(data))), axis=1)


def noisy_max_value(data, n):
    return np.max(np.asarray(data) + whole(0.5, (n, len(data))), axis=1)


def exact(epsilon):
    noise = Laplace(epsilon=epsilon)
    return lambda data, n: noise.release(np.full(n, data))


def redrawn(data, n):
    """Draws noise until the count is not negative."""
    noise, draws = Laplace(epsilon=1), np.full(n, -1)
    while (short := draws < 0).any():
        draws[short] = noise.release(np.full(int(short.sum()), data))
    return draws


def clamped(data, n):
    return np.maximum(0, Laplace(epsilon=1).release(np.full(n, data)))


def numpy_laplace(data, n):
    return data + laplace(1.0, n)


def exponential(epsilon):
    def many(data, n):
        weights = np.exp(epsilon / 2 * np.asarray(data, dtype=float))
        return RANDOM().choice(len(data), size=n, p=weights / weights.sum())

    return many


MEANS = [([1, 1, 1], [1, 1]), ([0, 1], [0]), ([0] * 9 + [1], [0] * 9)]
GRID = 1 << 10


def mean_of_true_n(data, n):
    """Divides by the true number of records, and scales the noise by it."""
    unit = Laplace(epsilon=1, sensitivity=math.ceil(GRID / len(data)))
    return unit.release(np.full(n, round(GRID * sum(data) / len(data)))) / GRID


def mean_of_noisy_parts(data, n):
    """A noisy sum by a noisy count, half of epsilon each."""
    half = Laplace(epsilon=0.5)
    top = half.release(np.full(n, sum(data)))
    return top / np.maximum(1, half.release(np.full(n, len(data))))


def clipped_sum(keep_nan: bool):
    def many(data, n):
        column = np.array(data, dtype=float)
        if not keep_nan:
            column = np.nan_to_num(column, nan=0.0)
        total = float(np.clip(column, 0, 1).sum())
        if math.isnan(total):
            return np.full(n, np.nan)
        return Laplace(epsilon=1).release(np.full(n, round(total))).astype(float)

    return many


MISSING = [([0.0, 1.0], [0.0, math.nan]), ([0.0, 1.0], [0.0, 0.0])]
PAIR = [([3, 5], [3, 6]), ([3, 5], [4, 5])]


def same_noise_twice(data, n):
    noise = Laplace(epsilon=1).release(np.zeros(n, dtype=np.int64))
    return np.column_stack([data[0] + noise, data[1] + noise])


def fresh_noise(data, n):
    noise = Laplace(epsilon=1).release(np.zeros((n, 2), dtype=np.int64))
    return noise + np.asarray(data)


COINS = PureLoss(odds=Fraction(7, 3))


def by_bytes(data, n):
    """Tells the truth when a random byte leaves less than 7 when divided by 10."""
    truth = RANDOM().integers(0, 256, n) % 10 < 7
    return np.where(truth, data, 1 - data)


def seven_in_ten(data, n):
    return RandomizedResponse.warner(0.7).randomize(np.full(n, data))


# Others like them, so that the auditor is not fitted to the list of the eleven.


class Remembered:
    """Draws its noise once and for all, in blocks that it uses again."""

    def __init__(self, kept):
        self.noise = Laplace(epsilon=1).release(np.zeros(kept, dtype=np.int64))

    def __call__(self, data, n):
        return data + np.resize(self.noise, n)


def same_seed(data, n):
    """A new generator for every request."""
    return np.rint(data + np.random.default_rng(7).laplace(size=n) * 2).astype(int)


def antithetic(data, n):
    """Every second noise is the negative of the one before, to keep the average right."""
    noise = Laplace(epsilon=1).release(np.zeros((n + 1) // 2, dtype=np.int64))
    return data + np.column_stack([noise, -noise]).ravel()[:n]


def coarse_float(data, n):
    """From a uniform with 24 bits: other floats can be reached from 0 than from 1."""
    u = (RANDOM().integers(0, 1 << 24, n) + 0.5) / (1 << 24) - 0.5
    return np.float32(data - np.sign(u) * np.log(1 - 2 * np.abs(u)) / 0.5)


def float_gaussian(data, n):
    return data + RANDOM().normal(scale=10.0, size=n)


def length_tells(data, n):
    """A noisy histogram of the values that occur, and of no others."""
    bins = sorted(set(data))
    counts = np.array([data.count(value) for value in bins])
    return Laplace(epsilon=1).release(np.tile(counts, (n, 1)))


def fails_on_empty(data, n):
    return Laplace(epsilon=1).release(np.full(n, sum(data) // len(data)))


def type_tells(data, n):
    """A clamp that lets the whole number 0 through among floats."""
    noisy = Laplace(epsilon=1).release(np.full(n, data))
    return [0 if value < data else float(value) for value in noisy]


def report_one_sided(data, n):
    """Noise that only ever adds."""
    return data + RANDOM().geometric(1 - math.exp(-1), n)


def noisy_histogram_half(data, n):
    """Sensitivity taken as 1 where replacing a record moves two cells."""
    return Laplace(epsilon=1).release(np.tile(np.asarray(data), (n, 1)))


def gaussian(sigma):
    noise = Gaussian(sigma=sigma)
    return lambda data, n: noise.release(np.full(n, data))


def truncated(data, n):
    """Laplace noise cut off at 6: the ends are reached from one side only."""
    return data + np.clip(Laplace(epsilon=1).release(np.zeros(n, dtype=np.int64)), -6, 6)


def beside_harmless(case, pairs):
    """The same mechanism with more pairs of inputs, on which it is right: every second
    pair is of equal inputs, the others just keep the claim."""
    inputs = [data for pair in case.neighbors for data in pair]
    mu = getattr(case.claim, "mu_squared", None)
    fine = exact(case.claim.exact_epsilon.rational) if case.claim is ONE else exact(0.5)
    fine = fine if mu is None else gaussian(1 / math.sqrt(mu))

    def many(data, n):
        kind, true = data
        return case.many(true, n) if kind != "fine" else fine(true, n)

    extra = [
        (("fine", 2 * i), ("fine", 2 * i + 1))
        if i % 2
        else ((f"left {i}", inputs[i % len(inputs)]), (f"right {i}", inputs[i % len(inputs)]))
        for i in range(pairs)
    ]
    own = [tuple(("own", data) for data in pair) for pair in case.neighbors]
    half = pairs // 2
    return Case(case.name, many, [*extra[:half], *own, *extra[half:]], case.claim)


WRONG = [
    Case("sparse vector without its factor", sparse_vector(2.0), QUERIES),
    Case("sparse vector that prints values", sparse_vector_with_values, QUERIES),
    Case("noisy max that returns the value", noisy_max_value, SCORES),
    Case("noise of half the scale", exact(2), [(0, 1)]),
    Case("redrawing until non-negative", redrawn, [(0, 1)]),
    Case("plain numpy Laplace", numpy_laplace, [(0, 1)]),
    Case("exponential mechanism at twice the strength", exponential(2), SCORES),
    Case("a mean divided by the true n", mean_of_true_n, MEANS),
    Case("NaN through clip", clipped_sum(keep_nan=True), MISSING),
    Case("the same noise used twice", same_noise_twice, PAIR),
    Case("randomized response by byte % 10 < 7", by_bytes, [(0, 1)], COINS),
]
OTHERS = [
    Case("sparse vector without noise on queries", sparse_vector(0), QUERIES),
    Case("noise kept in blocks", Remembered(1_000), [(0, 1)]),
    Case("noise kept in long blocks", Remembered(200_003), [(0, 1)]),
    Case("the same seed for every request", same_seed, [(0, 1)]),
    Case("every second noise mirrored", antithetic, [(0, 1)]),
    Case("noise from 24 bits", coarse_float, [(0.0, 1.0)]),
    Case("plain numpy normal", float_gaussian, [(0.0, 1.0)], GaussianLoss(0.1)),
    Case("a histogram of what occurs", length_tells, [([1, 1, 2], [1, 1])]),
    Case("fails on an empty table", fails_on_empty, [([1], [])]),
    Case("a type that tells", type_tells, [(0, 1)]),
    Case("noise that only adds", report_one_sided, [(0, 1)]),
    Case("a histogram at half its sensitivity", noisy_histogram_half, [([3, 2], [2, 3])]),
    Case("too little Gaussian noise", gaussian(0.9), [(0, 1)], GaussianLoss(1)),
    Case("a tail that tells all", truncated, [(0, 1)], ApproximateLoss(1, 1e-4)),
]
RIGHT = [
    Case("sparse vector", sparse_vector(4.0 * COUNT), QUERIES),
    Case("sparse vector that names the first", sparse_vector_first, QUERIES),
    Case("noisy max", noisy_max, SCORES),
    Case("Laplace", exact(1), [(0, 1)]),
    Case("clamped afterwards", clamped, [(0, 1)]),
    Case("exponential mechanism", exponential(1), SCORES),
    Case("a noisy sum by a noisy count", mean_of_noisy_parts, MEANS),
    Case("NaN replaced before the clip", clipped_sum(keep_nan=False), MISSING),
    Case("fresh noise", fresh_noise, PAIR),
    Case("randomized response", seven_in_ten, [(0, 1)], COINS),
    Case("Gaussian", gaussian(1), [(0, 1)], GaussianLoss(1)),
]
