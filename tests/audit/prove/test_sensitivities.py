"""Sensitivities against closed forms."""

import math
from fractions import Fraction
from itertools import product
from statistics import median_low

import numpy as np
import pytest

from deniable.audit import sensitivity
from deniable.errors import InvalidParameter

DOMAIN = [0, 1, 4]


@pytest.mark.parametrize(
    ("f", "neighbors", "l1"),
    [
        (len, "add-remove", 1),
        (len, "replace", 0),
        (sum, "add-remove", 4),
        (sum, "replace", 4),
        (lambda t: [t.count(x) for x in DOMAIN], "replace", 2),
        (lambda t: [t.count(x) for x in DOMAIN], "add-remove", 1),
        (lambda t: Fraction(sum(t), len(t)), "replace", Fraction(4, 3)),
        (lambda t: np.array([[sum(t)], [len(t)]]), "add-remove", 5),
        (lambda t: max(t, default=0) - min(t, default=0) > 0, "replace", 1),
    ],
)
def test_global_sensitivity(f, neighbors, l1):
    assert sensitivity(f, DOMAIN, 3, neighbors=neighbors).l1 == l1


def test_the_l2_norm_is_exact_and_rounded_up():
    bounds = sensitivity(lambda t: [t.count(x) for x in DOMAIN], DOMAIN, 3, neighbors="replace")
    assert bounds.l2_squared == 2
    assert 0 <= bounds.l2 - math.sqrt(2) < 1e-15
    assert Fraction(bounds.l2) ** 2 >= 2
    a, b = bounds.worst
    assert sum(x != y for x, y in zip(a, b, strict=True)) == 1


def test_local_sensitivity_of_a_median():
    bounds = sensitivity(median_low, DOMAIN, 3, neighbors="replace")
    for table in product(DOMAIN, repeat=3):
        around = [
            abs(median_low([*table[:i], x, *table[i + 1 :]]) - median_low(table))
            for i in range(3)
            for x in DOMAIN
        ]
        assert bounds.local(table) == max(around)
    assert bounds.l1 == 4
    assert bounds.local([0, 0, 0]) == 0


def test_inverse_sensitivity_of_a_median():
    bounds = sensitivity(median_low, DOMAIN, 3, neighbors="replace")
    assert bounds.inverse([0, 0, 0]) == {0: 0, 1: 2, 4: 2}
    assert bounds.inverse([0, 1, 4]) == {1: 0, 0: 1, 4: 1}


def test_outputs_of_different_lengths_are_refused():
    with pytest.raises(InvalidParameter, match="gives the table away"):
        sensitivity(list, DOMAIN, 2, neighbors="add-remove")


def test_a_function_that_fails_names_the_table():
    with pytest.raises(ZeroDivisionError) as caught:
        sensitivity(lambda t: sum(t) / len(t), DOMAIN, 2, neighbors="add-remove")
    assert "[]" in caught.value.__notes__[0]


def test_an_unknown_table_is_refused():
    with pytest.raises(InvalidParameter):
        sensitivity(sum, DOMAIN, 2, neighbors="replace").local([9, 9])
