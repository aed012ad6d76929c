"""Local designs against the bounds for all shares and for means."""

from fractions import Fraction

import pytest

from deniable.mechanisms import (
    OLH,
    OUE,
    HadamardResponse,
    Ordinal,
    RandomizedResponse,
    SubsetSelection,
)
from deniable.price import all_shares
from deniable.price.local_bounds import mean_variance, total_variance
from tests.surveys.designs import DESIGNS

F = Fraction


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("k", [2, 3, 10, 200])
def test_no_design_is_below_and_subset_selection_attains_it(k, epsilon):
    for kind in (OUE, OLH, HadamardResponse, SubsetSelection, RandomizedResponse, Ordinal):
        if kind is Ordinal and (k > 100 or epsilon < 1):
            continue
        design = kind(epsilon=epsilon, categories=k)
        bound = all_shares(k, F(epsilon))
        assert total_variance(design) >= bound.value * (1 - 1e-9)
    best = total_variance(SubsetSelection(epsilon=epsilon, categories=k))
    assert best <= bound.value * 1.02  # its size is rounded to the nearest


def test_total_variances_are_sums_of_variances():
    for name in ("three", "OUE", "OLH", "subset"):
        design = DESIGNS[name]
        k = design.categories
        each = design.variance(F(1, k), respondents=1)
        assert total_variance(design) == pytest.approx(k * each)


@pytest.mark.parametrize(
    "name", ["Duchi", "piecewise", "hybrid", "square wave", "number or not"]
)
def test_variances_of_means_by_enumeration(name):
    design = DESIGNS[name]
    variance, width = mean_variance(design)
    assert width == 4
    if name == "number or not":
        return
    line = design.line() if not hasattr(design, "readings") else None
    worst = 0.0
    for answer in (0, 2, 4):
        reports = range(design.outputs)
        chances = [float(design.pmf(y, answer)) for y in reports]
        if line is None:
            values = design.readings().tolist()
        else:
            values = [float((y - line[0]) / line[1]) for y in reports]
        mean = sum(p * v for p, v in zip(chances, values, strict=True))
        assert mean == pytest.approx(answer)
        spread = sum(p * (v - mean) ** 2 for p, v in zip(chances, values, strict=True))
        worst = max(worst, spread)
    assert variance == pytest.approx(worst)
