"""Which sub-queries become constants, and what stands in their place."""

from fractions import Fraction

import pytest

from deniable.errors import InvalidQuery
from deniable.query.outer.constant_parts import find_constants, put_constants

MEAN = "SELECT AVG(x) FROM t"


def ask(part):
    if "t.k" in part:
        raise InvalidQuery("refers to other rows")


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        (f"SELECT COUNT(*) FROM t WHERE x > ({MEAN})", (MEAN,)),
        (f"SELECT COUNT(*) FROM t WHERE x > ({MEAN}) AND y < 2 * ({MEAN})", (MEAN,)),
        (f"SELECT SUM(CASE WHEN x > ({MEAN}) THEN 1 END) FROM t", (MEAN,)),
        ("SELECT COUNT(*) FROM t WHERE x IN (SELECT x FROM u)", ()),
        ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u)", ()),
        ("SELECT COUNT(*) FROM (SELECT x FROM t)", ()),
        ("SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM u WHERE u.k = t.k)", ()),
        (
            f"WITH u AS (SELECT x FROM t) SELECT COUNT(*) FROM u WHERE x > ({MEAN})",
            (f"WITH u AS (SELECT x FROM t) {MEAN}",),
        ),
    ],
)
def test_single_values_are_found(text, constants):
    assert find_constants(text, ask) == constants


def test_numbers_take_their_place():
    text = f"SELECT COUNT(*) FROM t WHERE x > ({MEAN}) AND y < ({MEAN})"
    sql = put_constants(text, {MEAN: Fraction(-5, 2)})
    assert sql == "SELECT COUNT(*) FROM t WHERE x > (-2.5) AND y < (-2.5)"


def test_there_are_at_most_three():
    parts = " AND ".join(f"x > (SELECT AVG(x) FROM t WHERE y > {i})" for i in range(4))
    with pytest.raises(InvalidQuery, match="At most 3"):
        find_constants(f"SELECT COUNT(*) FROM t WHERE {parts}", ask)
