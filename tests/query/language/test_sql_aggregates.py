"""Aggregates that are not sums, in SQL: every spelling means the same."""

import pytest

from deniable.errors import InvalidQuery
from deniable.query.language.parse import parse

SAME = {
    "MEDIAN(x)": ["QUANTILE_CONT(x, 0.5)", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)"],
    "QUANTILE_CONT(x, 0.9)": [
        "PERCENTILE_CONT(x, 0.9)",
        "QUANTILE(x, 0.9)",
        "QUANTILE_DISC(x, 0.9)",
        "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x)",
        "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY x DESC)",
    ],
    "QUANTILE_CONT(x, [0.1, 0.5])": [
        "QUANTILE_CONT(x, [0.5, 0.1])",
        "PERCENTILE_CONT([0.1, 0.5]) WITHIN GROUP (ORDER BY x)",
        "PERCENTILE_CONT([0.5, 0.9]) WITHIN GROUP (ORDER BY x DESC)",
    ],
    "(SUM(DISTINCT x) / COUNT(DISTINCT x))": ["AVG(DISTINCT x)", "MEAN(DISTINCT x)"],
    "MIN(x)": ["MIN(DISTINCT x)"],
    "MODE(x)": ["MODE() WITHIN GROUP (ORDER BY x)"],
    "TOP_K(x, 3)": ["APPROX_TOP_K(x, 3)", "top_k(x, 3)"],
}


@pytest.mark.parametrize(
    ("spelling", "other"),
    [(spelling, other) for spelling, others in SAME.items() for other in others],
)
def test_every_form_means_the_same(spelling, other):
    both = [parse(f"SELECT {text} AS a FROM t") for text in (spelling, other)]
    assert both[0] == both[1]
    assert str(both[0].outputs[0].expression) == spelling


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MEDIAN(x)", "median_x"),
        ("SUM(DISTINCT x)", "sum_x"),
        ("QUANTILE_CONT(x, 0.9)", "quantile_0.9_x"),
        ("QUANTILE_CONT(x, [0.9])", "quantiles_x"),
        ("MIN(x)", "min_x"),
        ("MODE(x + 1)", "mode"),
        ("COUNT(DISTINCT x)", "distinct_x"),
        ("CORR(x, y)", "corr_x"),
    ],
)
def test_what_an_unnamed_column_is_called(text, name):
    assert parse(f"SELECT {text} FROM t").outputs[0].name == name


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("QUANTILE_CONT(x, 0)", "above 0 and below 1"),
        ("QUANTILE_CONT(x, [0.5, 1])", "MIN and MAX"),
        ("QUANTILE_CONT(x, [0.5, 0.5])", "distinct"),
        ("QUANTILE_CONT(x, [])", "distinct numbers"),
        ("QUANTILE_CONT(x, y)", "must be a number"),
        ("QUANTILE_CONT(x, -0.5)", "must be a number"),
        ("QUANTILE_CONT(x, 'half')", "must be a number"),
        ("QUANTILE_CONT(x)", "needs a level"),
        ("QUANTILE_CONT(x, [" + ", ".join(f"0.{i:04}" for i in range(1, 1003)) + "])", "most"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x, y)", "one column"),
        ("SUM(x) WITHIN GROUP (ORDER BY y)", "is supported after"),
        ("MEDIAN(DISTINCT x)", "DISTINCT"),
        ("MODE()", "needs a column"),
        ("MAX(x, 3)", "an argument"),
        ("TOP_K(x)", "a number of values"),
        ("TOP_K(x, 0)", "a number of values"),
        ("TOP_K(x, 1.5)", "a number of values"),
        ("TOP_K(x, y)", "a number of values"),
        ("CORR(x)", "two columns|not valid SQL"),
    ],
)
def test_refusals_say_why(text, because):
    with pytest.raises(InvalidQuery, match=because):
        parse(f"SELECT {text} FROM t")
