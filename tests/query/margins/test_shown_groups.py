from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms import Laplace, Thresholding
from deniable.query.margins.margins import margins, noise_of_features
from deniable.query.margins.shown_groups import interval_if_shown, units_interval
from deniable.query.plan.plan import Feature, Number, Operation

LEVEL = Fraction(19, 20)
UNITS = Feature("units", -1)


def shown(rule, units, draws):
    """The noisy numbers of those groups of this size that are shown."""
    kept, noisy = rule.release(np.full(draws, units))
    return noisy[kept].astype(np.float64)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2", "6"])
def test_intervals_hold_among_the_groups_that_are_shown(epsilon, neighbors):
    rule = Thresholding(epsilon=Fraction(epsilon), delta=1e-4, groups=2, neighbors=neighbors)
    threshold = rule.threshold
    for part in ("0.6", "0.8", "1", "1.1", "1.5", "2", "4"):
        units = max(1, int(threshold * Fraction(part)))
        noisy = shown(rule, units, 100_000)
        low, high = units_interval(rule.noise, noisy, LEVEL)
        covered = np.mean((low <= units) & (units <= high)) if noisy.size else 1.0
        assert covered >= 0.95 - 4 * (0.05 * 0.95 / max(noisy.size, 1)) ** 0.5


def test_a_group_far_below_the_threshold_is_covered():
    """With the margin of all groups, none of these is covered."""
    rule = Thresholding(epsilon=0.5, delta=1e-3)
    units = rule.threshold - rule.margin(0.95) - 1
    noisy = shown(rule, units, 400_000)
    assert noisy.size > 100
    assert not (np.abs(noisy - units) <= rule.margin(0.95)).any()
    low, high = units_interval(rule.noise, noisy, LEVEL)
    assert np.mean((low <= units) & (units <= high)) > 0.9


def test_far_above_the_threshold_the_margin_is_the_usual_one():
    rule = Thresholding(epsilon=1, delta=1e-5)
    low, high = units_interval(rule.noise, np.array([1000.0]), LEVEL)
    assert (1000 - low[0], high[0] - 1000) == (rule.margin(0.95),) * 2


def test_formulas_with_the_number_of_units():
    rule = Thresholding(epsilon=1, delta=1e-4)
    noises = {"units": rule.noise, "rows": Laplace(epsilon=1).noise()}
    node = Operation("/", (Feature("rows", 0), UNITS))
    for units in (rule.threshold, 2 * rule.threshold, 10 * rule.threshold):
        noisy = shown(rule, units, 20_000)
        rows = 5 * units + noises["rows"].draw(noisy.size).astype(np.float64)
        got = {"units": noisy, "rows": rows}
        low, high = interval_if_shown(node, noises, got, LEVEL, ())
        assert np.mean((low <= 5) & (high >= 5)) >= 0.95 - 4 * (0.0475 / noisy.size) ** 0.5


def test_only_selected_groups_are_judged_that_way():
    rule = Thresholding(epsilon=1, delta=1e-5)
    noises, got = noise_of_features([], rule), {"units": np.array([12.0])}
    before = margins(UNITS, noises, got, confidence=LEVEL)
    after = margins(UNITS, noises, got, confidence=LEVEL, selected=True)
    assert before.tolist() == [3]
    assert after.tolist() == [11]


def test_nothing_is_known_if_a_denominator_may_be_zero():
    """Between two tried numbers of units there may be one at which nothing is known."""
    noise = Thresholding(epsilon=1, delta=1e-5).noise
    below = Operation("-", (Feature("units", 0), Number(Fraction(13))))
    node = Operation("/", (Number(Fraction(1)), below))
    shown = {"units": np.array([12.0, 40.0])}
    low, high = interval_if_shown(node, {"units": noise}, shown, Fraction(19, 20), ())
    assert [low[0], high[0]] == [-np.inf, np.inf]
    assert 1 / 30 <= low[1] < high[1] <= 1 / 24
