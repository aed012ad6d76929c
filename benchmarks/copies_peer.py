"""MST over the estimator of `mbi`: the opponent of `benchmarks.copies`.

    python -m benchmarks.copies_peer --data DIR [--epsilon 1] [--iterations 10000] [--seeds 1]

The same budget, noise, choice of pairs and merging of rare cells as in the paper: a third of
rho for the columns, for the choice, and for the pairs; columns first fitted by themselves, with
a quarter of the iterations. `mbi` needs jax: install the extra `peer-copies` into an
environment of its own. This file imports nothing of Deniable, so it needs nothing else.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

DELTA = 1e-9


def main() -> None:
    """Prints one line for each try: errors on pairs and triples, and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--iterations", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    codes, sizes = read(options.data)
    rho = least_rho(options.epsilon, DELTA)
    for seed in range(options.seeds):
        wall, cpu = time.perf_counter(), time.process_time()
        rows = copy(codes, sizes, rho, options.iterations, np.random.default_rng(seed))
        took = time.perf_counter() - wall, time.process_time() - cpu
        names = list(sizes)
        pairs, triples = (error(codes, rows, list(sizes.values()), k) for k in (2, 3))
        print(
            f"mbi MST {options.iterations} iterations, {len(names)} columns: pairs {pairs:.4f} "
            f"triples {triples:.4f} {took[0]:.1f} s, {took[1]:.1f} s of processor time",
            flush=True,
        )


def read(folder: Path) -> tuple[Any, dict[str, int]]:
    """The coded table, a column for each column, and its numbers of cells."""
    declared = json.loads((folder / "domain.json").read_text())
    with (folder / "coded.csv").open() as file:
        rows = csv.reader(file)
        names = next(rows)
        codes = np.array([[int(cell) for cell in row] for row in rows])
    return codes, {name: declared[name] for name in names}


def least_rho(epsilon: float, delta: float) -> float:
    """The rho whose (epsilon, delta) this is, by the best Renyi order."""

    def spent(rho: float) -> float:
        orders = 1 + np.exp(np.linspace(-6, 12, 4000))
        return float(
            np.min(
                orders * rho
                + np.log1p(-1 / orders)
                - (math.log(delta) + np.log(orders)) / (orders - 1)
            )
        )

    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) < epsilon else (low, middle)
    return low


def copy(codes: Any, sizes: dict[str, int], rho: float, iterations: int, chance: Any) -> Any:
    """The rows of one copy."""
    from mbi import Domain, LinearMeasurement, estimation

    names = list(sizes)
    noise = math.sqrt(3 * len(names) / (2 * rho))
    fine = [
        np.bincount(codes[:, i], minlength=sizes[name]) + chance.normal(0, noise, sizes[name])
        for i, name in enumerate(names)
    ]
    merged, widths = [], []
    for counts in fine:
        large = counts >= 3 * noise
        place = np.where(large, np.cumsum(large) - 1, large.sum())
        merged.append(place)
        widths.append(int(place.max()) + 1)
    domain = Domain(names, widths)
    rows = np.stack([merged[i][codes[:, i]] for i in range(len(names))], axis=1)
    measured = [
        LinearMeasurement(
            np.bincount(merged[i], weights=fine[i], minlength=widths[i]), (name,), noise
        )
        for i, name in enumerate(names)
    ]
    first = estimation.MirrorDescent().estimate(domain, measured, iters=iterations // 4)
    total = float(
        np.mean([np.asarray(measurement.noisy_measurement).sum() for measurement in measured])
    )
    noise = math.sqrt(3 * (len(names) - 1) / (2 * rho))
    for a, b in choose_tree(first, rows, names, widths, rho / 3, chance):
        counts = marginal(rows, (a, b), widths)
        noisy = counts + chance.normal(0, noise, counts.size)
        measured.append(LinearMeasurement(noisy, (names[a], names[b]), noise))
    model = estimation.MirrorDescent().estimate(domain, measured, iters=iterations)
    drawn = model.synthetic_data(rows=max(1, round(total)))
    drawn_rows = np.stack([np.asarray(drawn.data[name]) for name in names], axis=1)
    return spread(drawn_rows, merged, chance)


def choose_tree(model: Any, rows: Any, names: list[str], sizes: Any, rho: float, chance: Any):
    """Pairs by private Kruskal."""
    count = len(names)
    epsilon = math.sqrt(8 * rho / (count - 1))
    scores = {}
    for a, b in combinations(range(count), 2):
        expected = np.asarray(model.project((names[a], names[b])).datavector())
        scores[a, b] = np.abs(marginal(rows, (a, b), sizes) - expected).sum()
    part, chosen = list(range(count)), []
    for _ in range(count - 1):
        left = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        weights = np.array([epsilon * scores[pair] / 2 for pair in left])
        odds = np.exp(weights - weights.max())
        pair = left[chance.choice(len(left), p=odds / odds.sum())]
        chosen.append(pair)
        old, new = part[pair[0]], part[pair[1]]
        part = [new if own == old else own for own in part]
    return chosen


def spread(rows: Any, merged: Any, chance: Any) -> Any:
    """Merged cells as one of their members, at random."""
    full = np.empty_like(rows)
    for i, place in enumerate(merged):
        for cell in range(int(place.max()) + 1):
            own, members = np.flatnonzero(rows[:, i] == cell), np.flatnonzero(place == cell)
            full[own, i] = members[chance.integers(0, members.size, own.size)]
    return full


def marginal(rows: Any, places: tuple[int, ...], sizes: Any) -> Any:
    """The counts of one table, flat."""
    shape = [sizes[i] for i in places]
    flat = np.ravel_multi_index([rows[:, i] for i in places], shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).astype(float)


def error(codes: Any, rows: Any, sizes: list[int], degree: int) -> float:
    """The mean error over all tables of that many columns."""
    errors = [
        np.abs(
            marginal(codes, p, sizes) / len(codes) - marginal(rows, p, sizes) / len(rows)
        ).sum()
        for p in combinations(range(len(sizes)), degree)
    ]
    return float(np.mean(errors))


if __name__ == "__main__":
    main()
