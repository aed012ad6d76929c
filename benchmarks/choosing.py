"""Choosing among a million candidates, against numpy's argmax of scores with Gumbel noise.

The peer's time is that of `numpy.argmax` plus one vector of (inexact) Gumbel noise. Scores
are integers in one run, all different and widely spread, and floats in another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.quantiles import time_quantiles
from benchmarks.stopwatch import Row, medians
from deniable import Exponential, NoisyMax, PermuteAndFlip

CANDIDATES = 1_000_000
MOST = 10.0
MECHANISMS = {
    "exponential": Exponential(epsilon=1),
    "permute-and-flip": PermuteAndFlip(epsilon=1),
    "noisy maximum, Laplace": NoisyMax(epsilon=1, noise="laplace"),
}


def rows() -> Iterator[Row]:
    generator = np.random.default_rng()
    whole = generator.permutation(CANDIDATES)
    for kind, scores in (("integers", whole), ("floats", whole / 7)):
        contestants = {"numpy": time_quantiles(lambda s=scores: gumbel(generator, s))}
        for name, mechanism in MECHANISMS.items():
            contestants[name] = time_quantiles(lambda m=mechanism, s=scores: m.release(s))
        times = medians(contestants)
        for name in MECHANISMS:
            yield verdict(f"{name}, {kind}", times[name], times["numpy"])


def gumbel(generator: np.random.Generator, scores: np.ndarray) -> int:
    return int(np.argmax(scores / 2 + generator.gumbel(size=scores.size)))


def verdict(what: str, ours: float, theirs: float) -> Row:
    ratio = ours / theirs
    target = f"≤ {MOST:g}"
    return Row(what, "ms", ours, theirs, "argmax + Gumbel", ratio, target, ratio <= MOST)
