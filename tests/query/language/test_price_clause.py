from fractions import Fraction

import pytest

import deniable as dp
from deniable.query.language.price_clause import split_price_clause

Q = "SELECT COUNT(*) FROM t"


@pytest.mark.parametrize(
    ("clause", "options"),
    [
        ("EPSILON 0.5", {"epsilon": Fraction(1, 2)}),
        ("epsilon .5;", {"epsilon": Fraction(1, 2)}),
        ("Epsilon 1/3", {"epsilon": Fraction(1, 3)}),
        ("EPSILON 1 / 3", {"epsilon": Fraction(1, 3)}),
        ("EPSILON 1e-3\n", {"epsilon": Fraction(1, 1000)}),
        (
            "EPSILON 1 DELTA 1e-7 CONFIDENCE 0.99",
            {
                "epsilon": Fraction(1),
                "delta": Fraction(1, 10**7),
                "confidence": Fraction(99, 100),
            },
        ),
        ("EPSILON 1 CONFIDENCE 0.9", {"epsilon": Fraction(1), "confidence": Fraction(9, 10)}),
    ],
)
def test_a_price_at_the_end_is_read(clause, options):
    assert split_price_clause(f"{Q} {clause}") == (f"{Q} ", options)


@pytest.mark.parametrize(
    "text",
    [
        Q,
        "SELECT epsilon FROM t",
        'SELECT COUNT(*) AS "EPSILON" FROM t',
        "SELECT COUNT(*) FROM t WHERE x = 'EPSILON 0.5'",
        "SELECT COUNT(*) FROM t -- EPSILON 0.5",
        "SELECT COUNT(*) FROM t WHERE epsilon > 5",
        "SELECT 'EPSILON",
        "",
    ],
)
def test_anything_else_has_no_price(text):
    assert split_price_clause(text) == (text, {})


@pytest.mark.parametrize(
    "clause",
    [
        "EPSILON 1 DELTA",
        "EPSILON 1 LIMIT 5",
        "EPSILON 0.5) AS x LIMIT 100",
        "EPSILON 1/0",
        "EPSILON 1e999999999",
        "EPSILON 1 DELTA 1e-7 DELTA 1e-8",
        "EPSILON 0",
    ],
)
def test_a_price_that_cannot_be_read_is_refused(clause):
    with pytest.raises(dp.InvalidQuery, match=r"Write EPSILON 0\.5"):
        split_price_clause(f"{Q} {clause}")
