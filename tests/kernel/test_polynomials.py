"""Bounds of polynomials contain every value, and the joint bound every row."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import PlanRefused
from deniable.kernel.polynomials import Caps, Joint, RowSum, bounds, joint, movement

NUMBERS = st.integers(-9, 9)
TERMS = st.dictionaries(
    st.tuples(st.integers(0, 2), st.integers(0, 2)), NUMBERS, min_size=1, max_size=5
)


def box(ends):
    return min(ends), max(ends)


BOXES = st.tuples(st.tuples(NUMBERS, NUMBERS).map(box), st.tuples(NUMBERS, NUMBERS).map(box))


def monomial(i, j):
    return tuple((name, power) for name, power in (("x", i), ("y", j)) if power)


@given(TERMS, BOXES)
def test_a_polynomial_stays_within_its_bounds(terms, sides):
    polynomial = {monomial(i, j): factor for (i, j), factor in terms.items()}
    low, high = bounds(polynomial, dict(zip("xy", sides, strict=True)))
    for x, y in product(*(range(a, b + 1) for a, b in sides)):
        value = sum(factor * x**i * y**j for (i, j), factor in terms.items())
        assert low <= value <= high


@given(st.lists(TERMS, min_size=1, max_size=3), BOXES)
def test_no_row_moves_several_features_further_than_together(features, sides):
    boxes = dict(zip("xy", sides, strict=True))
    sums = []
    for terms in features:
        used = frozenset(n for i, j in terms for n, power in (("x", i), ("y", j)) if power)
        by_term = {(used, monomial(i, j)): factor for (i, j), factor in terms.items()}
        sums.append((used, terms, RowSum(by_term, boxes)))
    span = joint(term for _, _, term in sums)
    rows = [(None, *range(a, b + 1)) for a, b in sides]
    for x, y in product(*rows):
        known = {name for name, value in (("x", x), ("y", y)) if value is not None}
        values = [
            sum(f * (x or 0) ** i * (y or 0) ** j for (i, j), f in terms.items())
            if used <= known
            else 0
            for used, terms, _ in sums
        ]
        assert sum(map(abs, values)) <= span.total
        assert span.low <= min(values)
        assert max(values) <= span.high


def test_features_that_add_up_to_a_constant_are_paid_for_once():
    x = RowSum.variable("x", 0, 100).present(frozenset("x"))
    present, rows = RowSum.constant(1).present(frozenset("x")), RowSum.constant(1)
    hundred = RowSum.constant(100)
    mean = [hundred * present - x, x, hundred * rows - hundred * present]
    assert joint(mean) == Joint(100, 0, 100)
    assert joint(mean[2:]) == Joint(100, 0, 100)  # only where x is NULL
    square = RowSum({(frozenset("x"), (("x", 2),)): 1}, {"x": (0, 100)})
    twice = hundred * x + hundred * x
    first = hundred * hundred * present - twice + square
    assert joint([first, twice - square - square, square]).total == 10_000


def test_a_feature_that_can_be_negative_counts_with_its_size():
    x = RowSum.variable("x", -3, 2).present(frozenset("x"))
    assert joint([x]) == Joint(3, -3, 2)
    assert joint([x, RowSum({}) - x]).total == 6


def test_counts_of_tests_move_together_only_if_the_tests_exclude_one_another():
    def count(low=-inf, high=inf, text=None, column="x"):
        ends = (low, high) if text is None else (text, text)
        return RowSum({}, test=(column, *ends))

    assert joint([count(0, 4), count(5, 9)]) == Joint(1, 0, 1)
    assert joint([count(0, 5), count(5, 9)]).total == 2
    assert joint([count(text="a"), count(text="b"), count(text="c")]).total == 1
    assert joint([count(text="a"), count(text="a")]).total == 2
    assert joint([count(), count(0, 4)]).total == 2
    assert joint([count(5, 9), count(0, 4, column="y")]).total == 2


def test_a_share_of_no_rows_is_zero():
    assert Joint(3, 1, 3).times(2) == Joint(6, 0, 6)
    assert Joint(Fraction(1, 2), -1, -1).times(4) == Joint(2, -4, 0)


def test_very_large_polynomials_are_refused():
    with pytest.raises(PlanRefused):
        bounds({(("x", 9),): 1}, {"x": (0, 1)})
    with pytest.raises(PlanRefused):
        bounds(
            {tuple((f"x{i}", 1) for i in range(13)): 1}, {f"x{i}": (0, 1) for i in range(13)}
        )


def test_sums_of_many_columns_are_bounded_exactly():
    columns = {f"x{i}": RowSum.variable(f"x{i}", 0, i) for i in range(40)}
    assert joint(columns.values()) == Joint(sum(range(40)), 0, 39)
    boxes = {f"x{i}": (0, i) for i in range(40)}
    apart = {((name, 1),): 1 for name in boxes} | {(("x1", 1), ("x2", 1)): -1, (): 5}
    assert bounds(apart, boxes) == (5, 5 + sum(range(40)) - 1)


def units(boxes, groups, limits):
    """What a unit can have in each group: sums of its rows at the corners of their boxes."""
    corners = list(product(*boxes))
    each = {
        (n, tuple(map(sum, zip(*rows, strict=True))) or (0,) * len(boxes))
        for n in range(limits.rows + 1)
        for rows in combinations_with_replacement(corners, n)
    }
    for held in product(each, repeat=groups):
        counts = [n for n, _ in held]
        whole = limits.groups * limits.rows if limits.whole is None else limits.whole
        if sum(map(bool, counts)) <= limits.groups and sum(counts) <= whole:
            yield [number for _, sums in held for number in sums]


@pytest.mark.parametrize(
    ("boxes", "groups", "limits", "exact"),
    [
        ([(-1, 2)], 1, Caps(1, 3), True),
        ([(-1, 2)], 3, Caps(2, 2, 3), False),
        ([(-2, 3)], 2, Caps(2, 2), False),
        ([(1, 2)], 3, Caps(3, 2, 4), False),
        ([(0, 1), (0, 1)], 2, Caps(2, 2, 3), False),
        ([(-1, 1), (0, 1)], 2, Caps(2, 1), False),
        ([(-1, 1), (-1, 1)], 1, Caps(1, 2), True),
    ],
)
def test_no_unit_moves_further_than_the_movement(boxes, groups, limits, exact):
    names = [f"x{i}" for i in range(len(boxes))]
    features = [RowSum.variable(name, *ends) for name, ends in zip(names, boxes, strict=True)]
    states, zero = list(units(boxes, groups, limits)), [0] * groups * len(boxes)
    for neighbors, others in (("add-remove", [zero]), ("replace", states)):
        l1, square = movement(features, joint(features), limits, neighbors, keyed=groups > 1)
        moves = [
            [a - b for a, b in zip(*pair, strict=True)] for pair in product(states, others)
        ]
        far = max(sum(map(abs, move)) for move in moves)
        further = max(sum(x * x for x in move) for move in moves)
        assert far <= l1
        assert further <= square
        assert not exact or (far, further) == (l1, square)
