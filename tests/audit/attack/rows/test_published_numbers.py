"""Numbers by name, and what rows add to them in their own units."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.audit.attack.rows.published_numbers import (
    Contributions,
    LoneParts,
    PublishedNumber,
)

NUMBER = PublishedNumber(2, "a", ("north", 3))


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (NUMBER, "question 3, a of north, 3"),
        (PublishedNumber(0, "n", ()), "question 1, n"),
        (PublishedNumber(0, "a", (), "n"), "question 1, a × n"),
        (PublishedNumber(0, "a", (), less=True), "question 1, sum of values less a"),
    ],
)
def test_a_number_is_named_by_its_question(number, shown):
    assert str(number) == shown


def test_products_and_equations_stand_where_the_number_stands():
    assert PublishedNumber(2, "a", ("north", 3), "n").place == NUMBER.place
    assert PublishedNumber(2, "a", ("north", 3), less=True).place == NUMBER.place
    assert PublishedNumber(2, "b", ("north", 3)).place != NUMBER.place


def test_contributions_have_the_numbers_own_units():
    vectors = np.array([[4, 8], [1, 0]])
    scales = Fraction(1, 4), Fraction(10)
    known = Contributions((NUMBER, NUMBER), vectors, scales, ())
    assert known.values().tolist() == [[1, 2], [10, 0]]
    assert "array" not in repr(known)


def test_lone_parts_spread_over_all_rows():
    lone = LoneParts(NUMBER, np.array([2, 0]), np.array([[7], [5]], dtype=object))
    assert lone.spread(3).tolist() == [[5], [0], [7]]
