"""Fieller's intervals: exact for Gaussian noise, and wide enough for Laplace noise."""

from math import sqrt

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.evaluation.ratio_intervals import NoiseLaw, fieller


@pytest.mark.parametrize(("top", "bottom"), [(80, 100), (3, 10), (0, 30), (30, 30)])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_shares_of_few_rows_are_covered(size, kind, top, bottom):
    draws = size(small=2_000, full=50_000, what=f"noisy shares, {kind}")
    chance = np.random.default_rng(top + bottom)
    law, hits = NoiseLaw(4.0, kind), 0
    part, whole = np.array([1.0, 0.0]), np.ones(2)
    draw = chance.normal if kind == "gaussian" else chance.laplace
    noise = draw(scale=4.0 if kind == "gaussian" else 4 / sqrt(2), size=(draws, 2))
    for own in noise:
        counts = np.array([top, bottom - top]) + own
        reading = law.ratio(part, whole, counts)
        hits += reading.low <= top / bottom <= reading.high
    assert hits / draws >= 0.95 - 4 * sqrt(0.95 * 0.05 / draws)


def test_every_share_is_possible_where_the_bottom_may_be_zero():
    reading = fieller(1.0, 2.0, (4.0, 0.0, 4.0), 1.96)
    assert (reading.low, reading.high) == (0.0, 1.0)
    noisy_bottom = fieller(50.0, 100.0, (0.01, 0.0, 1e4), 1.96)
    assert (noisy_bottom.low, noisy_bottom.high) == (0.0, 1.0)
    assert fieller(1.0, -5.0, (0.1, 0.0, 0.1), 1.96).high == 1.0


def test_kinds_of_noise_are_checked():
    with pytest.raises(InvalidParameter, match="kind"):
        NoiseLaw(1.0, "cauchy")


def test_laplace_noise_has_longer_tails():
    """Half of 1 - confidence lies beyond -ln(1 - confidence) scales, sqrt 2 to a deviation."""
    assert NoiseLaw(1.0, "laplace").multiple(0.95) == pytest.approx(2.1183, abs=1e-4)
    assert NoiseLaw(1.0).multiple(0.95) == pytest.approx(1.96, abs=1e-3)
