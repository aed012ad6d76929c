"""Reach against all that one unit can do, by brute force over small tables."""

from itertools import product

import pytest

from deniable.query.plan.contribution import Contribution


def units(low, high, rows):
    """Every total that one unit's rows can add to one integer."""
    return {sum(some) for n in range(rows + 1) for some in product((low, high), repeat=n)}


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 3), (2, 5), (-4, -1)])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_a_single_number_moves_as_far_as_stated_and_no_further(low, high, rows, neighbors):
    reach = Contribution(1, max(1, abs(low), abs(high)), low, high)
    l1, l2 = reach.sensitivities(groups=1, rows=rows, neighbors=neighbors, keyed=False)
    there = units(low, high, rows)
    others = there if neighbors == "replace" else {0}
    most = max(abs(number - other) for number in there for other in others)
    assert (l1, l2) == (most, most**2)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("groups", [1, 2])
def test_amounts_that_add_up_to_the_total(groups, neighbors):
    reach = Contribution(2, 3, 0, 1)
    l1, l2 = reach.sensitivities(groups=groups, rows=1, neighbors=neighbors, keyed=True)
    rows = [(a, 3 - a) for a in range(4)] + [(0, 0)]
    # In four groups; a unit may be in this many of them.
    there = [
        sum(some, ())
        for some in product(rows, repeat=4)
        if sum(amount != (0, 0) for amount in some) <= groups
    ]
    others = there if neighbors == "replace" else [(0,) * 8]
    moves = [[a - b for a, b in zip(x, y, strict=True)] for x in there for y in others]
    assert max(sum(map(abs, move)) for move in moves) == l1
    assert max(sum(amount**2 for amount in move) for move in moves) == l2


def test_a_unit_that_counts_once_does_so_whatever_its_rows():
    reach = Contribution(1, 1, 0, 1, once=True)
    limits = {"groups": 2, "neighbors": "add-remove", "keyed": True}
    assert reach.sensitivities(rows=50, **limits) == (2, 2)
