"""Private quantiles of a million values on 2^20 cells, against numpy's exact ones."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.stopwatch import Row, medians
from deniable import Quantiles

VALUES = 1_000_000
CELLS = 1 << 20
NINE = [k / 10 for k in range(1, 10)]
MOST = {"recursive": 5, "joint": 60, "fixed-target": 60, "independent": 60, "tree": 60}


def rows() -> Iterator[Row]:
    values = np.random.default_rng().normal(CELLS / 2, CELLS / 10, VALUES)
    contestants = {"numpy": time_quantiles(lambda: np.quantile(values, NINE))}
    for method in MOST:
        contestants[method] = time_quantiles(partial(mechanism(method).release, values))
    times = medians(contestants)
    for method, most in MOST.items():
        yield verdict(method, times[method], times["numpy"], most)
    peak = peak_memory(lambda: mechanism("joint").release(values))
    what = "9 quantiles, joint: MiB at the peak"
    yield Row(what, "ms", peak, 1024.0, "1 GiB", peak / 1024, "≤ 1", peak <= 1024)


def verdict(method: str, ours: float, numpys: float, most: float) -> Row:
    ratio, what = ours / numpys, f"9 quantiles, {method}"
    return Row(what, "ms", ours, numpys, "numpy.quantile", ratio, f"≤ {most:g}", ratio <= most)


def mechanism(method: str) -> Quantiles:
    return Quantiles(
        NINE, epsilon=1, bounds=(0, CELLS - 1), neighbors="add-remove", method=method
    )


def time_quantiles(run: Callable[[], object]) -> Callable[[], float]:
    """A contestant that returns milliseconds; tables are built and modules loaded first."""
    run()

    def once() -> float:
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e3

    return once


def peak_memory(run: Callable[[], object]) -> float:
    """The most that a call holds at once beyond what was there before, in MiB."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
