"""Ranks with public rows at the bounds: the same weights as by definition."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable.exact.bits import SYSTEM
from deniable.mechanisms.quantiles.rank_draw import RankDraw
from tests.mechanisms.quantiles.contract import THRESHOLD, pvalue
from tests.mechanisms.quantiles.laws import histogram, of_rank

TABLES = [(), (0,), (3,), (0, 3), (1, 1, 2), (0, 0, 1, 3)]


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_draws_follow_the_law_and_nothing_near_it(table):
    """Also for targets below the first row and above the last."""
    unit, outside, q = Fraction(1, 2), 2, Fraction(1, 3)
    ranks = RankDraw(histogram(table, 4), outside=outside)
    for offset in (0, 2, 4):
        drawn = Counter((ranks.draw(q, unit, SYSTEM, offset=offset),) for _ in range(1500))
        law = of_rank(table, 4, q, unit, offset=offset, outside=outside)
        assert pvalue(drawn, {(cell,): weight for cell, weight in law.items()}) > THRESHOLD
        if offset != 2:  # there the nearest bound is the best cell, also of an empty table
            near = of_rank(table, 4, q, 2 * unit, offset=offset, outside=outside)
            assert pvalue(drawn, {(cell,): w for cell, w in near.items()}) < THRESHOLD


def test_a_target_outside_the_table_falls_on_the_bound():
    ranks = RankDraw(histogram((50,) * 10, 1000), outside=100)
    for offset, bound in ((0, 0), (200, 999)):
        half = Fraction(1, 2)
        drawn = {ranks.draw(half, Fraction(1), SYSTEM, offset=offset) for _ in range(50)}
        assert drawn == {bound}


def test_levels_with_huge_denominators_are_exact():
    data = histogram(np.repeat([2, 5, 7], 100), 10)
    third = Fraction(0.5 + 2**-50)
    drawn = {RankDraw(data, outside=9).draw(third, Fraction(8), SYSTEM, offset=9)}
    assert drawn == {5}
