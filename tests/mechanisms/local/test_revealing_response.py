"""Designs that give respondents away are read, never offered."""

from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, Unsupported
from deniable.mechanisms import RandomizedResponse, RevealingResponse

DESIGNS = [
    RevealingResponse.mangat(0.7),
    RevealingResponse.triangular(0.25),
    RevealingResponse.forced_yes(0.25),
    RevealingResponse(Fraction(3, 4), Fraction(0)),
]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_they_are_never_offered(design):
    with pytest.raises(Unsupported, match="infinite"):
        design.randomize([True])
    with pytest.raises(Unsupported, match="infinite"):
        design.loss  # noqa: B018


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_they_are_read_like_any_channel(design):
    rate = design.q + (design.p - design.q) * Fraction(3, 10)
    yes = int(rate * 10_000)
    estimate = design.estimate(counts=(10_000 - yes, yes))
    assert estimate.value == pytest.approx(0.3, abs=1e-3)
    assert estimate.interval[0] < 0.3 < estimate.interval[1]
    assert sum(design.aggregate([True, False, True]).counts) == 3
    assert design.categories == 2


def test_an_honest_design_belongs_elsewhere():
    with pytest.raises(InvalidParameter, match="RandomizedResponse"):
        RevealingResponse(Fraction(3, 4), Fraction(1, 4))
    with pytest.raises(InvalidParameter, match="differ"):
        RevealingResponse(Fraction(1), Fraction(1))


def test_the_honest_class_points_here():
    with pytest.raises(InvalidParameter, match="RevealingResponse"):
        RandomizedResponse.forced(0.5, yes=0.5, no=0)
