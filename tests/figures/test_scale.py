import pytest

from deniable.errors import InvalidParameter
from deniable.figures.scale import exponent, growth


def point(rows, groups, *, policy="rows", engine="DuckDB", power=1.0):
    ours = 2e-8 * rows**power
    return {
        "engine": engine,
        "policy": policy,
        "rows": rows,
        "groups": groups,
        "ours": ours,
        "plain": ours / 2,
    }


POINTS = [
    *(point(10**k, 1000) for k in (5, 6, 7)),
    *(point(10**k, 1000, engine="Spark", power=0.5) for k in (5, 6, 7)),
    point(10**7, 10**6),
    point(10**7, 10**7, policy="private"),
    point(10**7, 1000, policy="persons"),
]


def test_both_sides_of_each_engine_have_a_line_with_its_exponent():
    left, _ = growth(POINTS, groups=1000, rows=10**7).axes
    assert [line.get_label() for line in left.lines] == [
        "DuckDB, private: exponent 1.00",
        "DuckDB, not private: exponent 1.00",
        "Spark, private: exponent 0.50",
        "Spark, not private: exponent 0.50",
        "in proportion",
    ]
    assert left.get_xscale() == left.get_yscale() == "log"


def test_groups_and_private_keys_are_on_the_right():
    _, right = growth(POINTS, groups=1000, rows=10**7).axes
    lines = {line.get_label(): list(line.get_xdata()) for line in right.lines}
    assert lines["DuckDB, private"] == [1000, 10**6]
    assert lines["DuckDB, keys not declared"] == [10**7]
    assert lines["Spark, private"] == [1000]


def test_nothing_is_no_picture():
    with pytest.raises(InvalidParameter, match="at least one point"):
        growth([], groups=1, rows=1)


def test_the_exponent_is_a_slope():
    assert exponent([10, 100], [3, 300]) == pytest.approx(2)
