"""Public multiples of a released number have a public multiple of its margin."""

import pytest
import sqlglot

from deniable.query.outer.noise_dependence import DependenceReader, Kind, NoiseDependence
from deniable.query.outer.scaled_margin import scale_margin

N = NoiseDependence(Kind.AFFINE, frozenset({("t", "n")}), "n__margin")
MEAN = NoiseDependence(Kind.SMOOTH, frozenset({("t", "m")}), "m__margin")
COLUMNS = {("t", "n"): N, ("t", "m"): MEAN, ("t", "k"): NoiseDependence()}


def scale(text, *, chosen=False, shaky=False):
    reader = DependenceReader(COLUMNS, lambda sub: N, shaky=shaky)
    scaled = scale_margin(sqlglot.parse_one(text, dialect="duckdb"), reader, chosen=chosen)
    return None if scaled is None else (scaled[0].sql("duckdb"), scaled[1])


@pytest.mark.parametrize(
    ("text", "margin", "rounding"),
    [
        ("t.n", 't."n__margin"', 0),
        ("ROUND(t.m, 2)", 't."m__margin"', 0.01),
        ("-3 * t.n + t.k", 't."n__margin" * ABS(-3)', 0),
        ("(t.n - 5) / t.k", 't."n__margin" / ABS(t.k)', 0),
        ("FLOOR(CAST(t.n AS DOUBLE))", 't."n__margin"', 1),
        (
            "CASE WHEN t.k > 1 THEN t.n * 2 ELSE 0 END",
            'CASE WHEN t.k > 1 THEN t."n__margin" * ABS(2) ELSE 0 END',
            0,
        ),
    ],
)
def test_one_number_and_public_ones(text, margin, rounding):
    assert scale(text) == (margin, rounding)


@pytest.mark.parametrize(
    "text",
    [
        "t.n + t.n",
        "t.n * t.m",
        "5 / t.n",
        "ROUND(t.n, 1) * 100",
        "t.k",
        "LN(t.n)",
        "CASE WHEN t.n > 1 THEN t.n ELSE 0 END",
        "CASE WHEN t.k > 1 THEN t.n ELSE LN(t.n) END",
    ],
)
def test_everything_else_is_left_to_the_draws(text):
    assert scale(text) is None


def test_rows_chosen_by_noise_take_only_margins_that_hold_for_all_rows():
    assert scale("t.n * 2", chosen=True) is not None
    assert scale("t.m * 2", chosen=True) is None
    assert scale("t.n * 2", shaky=True) is None
