"""Composition against Google's dp-accounting: the same epsilon, and how long it takes.

Each contestant starts from the parameters and ends with an epsilon. A row is reached if ours is
fast enough *and* within 1e-4 of theirs or of the exact value, and never below the exact one.
Speeds are in answers a second.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import deniable as dp
from benchmarks.stopwatch import REPEATS, Row, medians
from deniable.privacy.arithmetic.dominating_pairs import DiscretePair
from deniable.privacy.compose import (
    coarse_sum,
    grid_cells,
    loss_grid,
    numerical_curve,
    numerical_loss,
    precision_search,
)

UNIT = "answers/s"
LEAST = 10
CLOSE = 1e-4

Answer = Callable[[], float]


@dataclass(frozen=True)
class Case:
    """A plan, its exact epsilon or a lower bound on it, and how often theirs is timed."""

    what: str
    ours: Answer
    theirs: Answer
    sure: Answer
    rounds: int = REPEATS


def rows() -> Iterator[Row]:
    try:
        all_cases = list(cases())
    except ImportError:
        yield Row(
            "composition", UNIT, None, None, "dp-accounting", note="is missing (extra: bench)"
        )
        return
    for case in all_cases:
        yield contest(case)


def contest(case: Case) -> Row:
    ours, theirs, sure = forgetful(case.ours)(), case.theirs(), case.sure()
    right = ours >= sure and abs(ours - theirs) <= CLOSE + max(theirs - sure, 0.0)
    turns = {"ours": speed(forgetful(case.ours)), "theirs": speed(case.theirs)}
    speeds = medians(turns, case.rounds)
    ratio = speeds["ours"] / speeds["theirs"]
    note = f"epsilon {ours:.6f}, theirs {theirs:.6f}, at least {sure:.6f}"
    reached = ratio >= LEAST and right
    return Row(
        f"{case.what}: {ours:.5f} ({theirs:.5f})",
        UNIT,
        speeds["ours"],
        speeds["theirs"],
        "dp-accounting",
        ratio,
        f"≥ {LEAST}",
        reached,
        note,
    )


def speed(answer: Answer) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        answer()
        return 1 / (time.perf_counter() - start)

    return run


def forgetful(answer: Answer) -> Answer:
    """The answer, computed from scratch: nothing is cached."""

    def run() -> float:
        kept = (
            coarse_sum.coarse_sum,
            precision_search.choose_grid,
            numerical_loss.directions,
            numerical_loss._curve_near_delta,
            numerical_loss._curve_near_epsilon,
            numerical_curve._discretize_all,
            grid_cells._continuous_range,
            loss_grid.common_lattice,
            DiscretePair.randomized_response,
        )
        for cache in kept:
            cache.cache_clear()
        return answer()

    return run


def cases() -> Iterator[Case]:
    from dp_accounting.pld import privacy_loss_distribution as pld

    for count in (1_000, 100_000):
        sigma = round(10 * math.sqrt(count / 1000), 6)
        exact = dp.GaussianLoss(1 / sigma) * count
        grid = dp.LossDistribution.of(dp.GaussianLoss(1 / sigma)) * count

        def theirs(count: int = count, sigma: float = sigma) -> float:
            single = pld.from_gaussian_mechanism(sigma, value_discretization_interval=1e-4)
            return float(single.self_compose(count).get_epsilon_for_delta(1e-6))

        def closed(loss: dp.Composition = exact) -> float:
            return loss.epsilon(1e-6)

        def gridded(loss: dp.Composition = grid) -> float:
            return loss.epsilon(1e-6)

        yield Case(f"{count:,} Gaussians", closed, theirs, closed)
        yield Case(f"{count:,} Gaussians, on a grid", gridded, theirs, closed)
    yield different(pld)
    yield sampled(pld)


def different(pld: object) -> Case:
    """500 Laplace and 500 Gaussian mechanisms, all of them different."""
    generator = np.random.default_rng(1)
    epsilons = [round(float(e), 6) for e in generator.uniform(0.01, 0.2, 500)]
    mus = [round(float(m), 6) for m in generator.uniform(0.01, 0.2, 500)]

    def plan() -> dp.Composition:
        parts = [(dp.LossDistribution.laplace(e), 1) for e in epsilons]
        bells = [(dp.GaussianLoss(m), 1) for m in mus]
        return dp.Composition((*parts, *bells))

    def theirs() -> float:
        total = None
        for e in epsilons:
            distribution = pld.from_laplace_mechanism(1 / e, value_discretization_interval=1e-4)
            total = distribution if total is None else total.compose(distribution)
        for m in mus:
            distribution = pld.from_gaussian_mechanism(
                1 / m, value_discretization_interval=1e-4
            )
            total = total.compose(distribution)
        return float(total.get_epsilon_for_delta(1e-6))

    def sure() -> float:
        return plan().epsilon_bounds(1e-6, precision=1e-6)[0]

    # Theirs takes ten seconds and more: one turn each is enough to tell.
    return Case("1,000 different", lambda: plan().epsilon(1e-6), theirs, sure, rounds=1)


def sampled(pld: object) -> Case:
    """10,000 steps of the sampled Gaussian."""

    def plan() -> dp.Composition:
        step = dp.poisson(dp.GaussianLoss(1), rate=0.01, neighbors="add-remove")
        return step * 10_000

    def theirs() -> float:
        single = pld.from_gaussian_mechanism(
            1.0, value_discretization_interval=1e-4, sampling_prob=0.01
        )
        return float(single.self_compose(10_000).get_epsilon_for_delta(1e-6))

    def sure() -> float:
        return plan().epsilon_bounds(1e-6, precision=1e-5)[0]

    return Case("10,000 sampled Gaussians", lambda: plan().epsilon(1e-6), theirs, sure)
