"""What every quantile method must show: private on every tiny table, drawn as its law says."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.exact.bits import SYSTEM
from deniable.exact.enclosures import float_down
from deniable.mechanisms.quantiles.quantile_method import QuantileMethod
from tests.mechanisms.quantiles.laws import BITS, greatest, histogram, limit, neighbors

THRESHOLD = 1e-9


def pvalue(counts, law):
    """Chi-square of drawn cells against a law; rare ones share one cell."""
    n = counts.total()
    assert set(counts) <= set(law)
    wanted = {key: n * lo / (1 << BITS) for key, (lo, _) in law.items()}
    often = [key for key in law if wanted[key] >= 10]
    observed, expected = [counts[key] for key in often], [wanted[key] for key in often]
    if (rest := n - sum(expected)) > 5:
        observed, expected = [*observed, n - sum(observed)], [*expected, rest]
    else:
        expected = [mass * sum(observed) / sum(expected) for mass in expected]
    return chisquare(observed, expected).pvalue


def rank_errors(records, size, cells, quantiles):
    """How many ranks each cell misses; repeats cover all of their ranks."""
    records, cells = np.sort(records), np.asarray(cells)
    targets = np.array([float(q) * records.size for q in quantiles])
    less = np.searchsorted(records, cells, side="left")
    most = np.searchsorted(records, cells, side="right")
    assert (cells >= 0).all()
    assert (cells < size).all()
    return np.maximum(0, np.maximum(targets - most, less - targets))


class MethodContract:
    """Subclasses give methods for tiny grids, and their laws."""

    methods: ClassVar[tuple[QuantileMethod, ...]]
    most: ClassVar[int] = 4  # records
    draws: ClassVar[int] = 700  # enough to tell three times the epsilon apart

    def law(self, method, records):
        raise NotImplementedError

    def test_no_release_gives_a_neighbour_away(self):
        for method in self.methods:
            pairs = neighbors(method.neighbors, method.size, self.most)
            _, most = greatest(lambda table, m=method: self.law(m, table), pairs)
            assert most <= limit(method.epsilon)
            assert most > 1

    def test_three_times_the_strength_is_caught(self):
        for method in self.methods:
            strong = replace(method, epsilon=3 * method.epsilon)
            pairs = neighbors(method.neighbors, method.size, self.most)
            least, _ = greatest(lambda table, m=strong: self.law(m, table), pairs)
            assert least > limit(method.epsilon)

    def test_draws_follow_the_law_and_nothing_near_it(self, size):
        count = size(small=self.draws, full=10_000, what=f"draws of {self.methods[0].name}")
        for method in self.methods:
            records = (0, 0, 1, method.size - 1)
            data = histogram(records, method.size)
            counts = Counter(tuple(method.draw(data, SYSTEM).cells) for _ in range(count))
            assert pvalue(counts, self.law(method, records)) > THRESHOLD
            other = replace(method, epsilon=3 * method.epsilon)
            assert pvalue(counts, self.law(other, records)) < THRESHOLD

    def test_the_margin_is_honest(self, size):
        count = size(small=30, full=500, what=f"margins of {self.methods[0].name}")
        rng = np.random.default_rng(5)
        columns = [
            rng.integers(500, 700, 3000),
            np.repeat([17, 940], 1500),
            np.concatenate([np.full(1500, 3), np.arange(1500) // 2]),
        ]
        for method in self.methods:
            wide = replace(method, size=1000, place_bits=32, epsilon=Fraction(1))
            margin = wide.rank_margin(0.5, 3000)
            for records in columns:
                data = histogram(records, 1000)
                errors = [
                    rank_errors(records, 1000, wide.draw(data, SYSTEM).cells, wide.quantiles)
                    for _ in range(count)
                ]
                within = np.mean([error.max() <= margin for error in errors])
                assert within > 0.5 - 5 * (0.25 / count) ** 0.5

    def test_the_loss_is_epsilon(self):
        for method in self.methods:
            assert method.loss.epsilon() == pytest.approx(float_down(method.epsilon))
            assert method.loss.exact_epsilon.rational == method.epsilon

    @pytest.mark.parametrize("records", [(), (0,), (2, 2, 2)], ids=str)
    def test_small_tables_release_something(self, records):
        for method in self.methods:
            cells = method.draw(histogram(records, method.size), SYSTEM).cells
            assert len(cells) == len(method.quantiles)
            assert cells == sorted(cells)
            assert all(0 <= cell < method.size for cell in cells)
