"""Margins by drawing the noise again: those that are shown hold as often as they say."""

from fractions import Fraction

import numpy as np

from deniable.query.margins.repeated_draws import ratio_margins

LARGE, SMALL = [400, 350, 300, 520, 610, 700], [0, 2, 5, 9, 14, 18]
DRAWS, TRIALS = 199, 1000


def test_shown_margins_of_ratios_hold_where_many_denominators_are_zero():
    rng = np.random.default_rng(7)
    true = np.tile(np.array([*LARGE, *SMALL, *[0] * 12], dtype=float), TRIALS)
    errors = np.round(rng.laplace(0, 2, (DRAWS + 1, len(true))))
    below = true + errors[0]
    below = np.vstack([below, below + errors[1:]])
    above = np.full_like(below, 1000.0)
    half = ratio_margins(above, below, Fraction(19, 20), together=False)
    shown = np.isfinite(half)
    with np.errstate(all="ignore"):
        missed = ~(np.abs(1000 / below[0] - 1000 / true) <= half)  # also where it is infinite
    assert shown[true >= 300].all()
    assert missed[shown].mean() < 0.05
