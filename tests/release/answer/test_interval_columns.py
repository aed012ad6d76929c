import math
from fractions import Fraction

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from deniable.release.answer.answer_table import Answer
from deniable.release.answer.interval_columns import interval_table

doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(value=doubles, margin=doubles.map(abs))
def test_an_interval_never_leaves_out_what_the_margin_covers(value, margin):
    table = pa.table({"n": [value], "n_margin": [margin]})
    (row,) = interval_table(Answer(table, {"n": "n_margin"}), {}).to_pylist()
    assert row["n"] == value
    for end, exact in (
        (row["n_low"], Fraction(value) - Fraction(margin)),
        (row["n_high"], Fraction(value) + Fraction(margin)),
    ):
        outwards = end <= exact if end is row["n_low"] else end >= exact
        assert outwards or exact == end
        if math.isfinite(end):
            inner = math.nextafter(end, value)
            assert end == exact or abs(Fraction(inner) - Fraction(value)) < abs(
                exact - Fraction(value)
            )


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**63 - 1))
def test_whole_numbers_stay_whole_while_they_fit(value, margin):
    table = pa.table({"n": [value], "n_margin": [margin]})
    (row,) = interval_table(Answer(table, {"n": "n_margin"}), {}).to_pylist()
    for end, exact in ((row["n_low"], value - margin), (row["n_high"], value + margin)):
        if -(2**63) <= exact < 2**63:
            assert end == exact
            assert isinstance(end, int)
        else:
            assert isinstance(end, float)


def test_missing_and_infinite_margins_and_names_that_are_taken():
    table = pa.table(
        {"n": [1.0, None, 2.0], "n_margin": [None, 3.0, math.inf], "n_low": ["a", "b", "c"]}
    )
    intervals = interval_table(Answer(table, {"n": "n_margin"}), {})
    assert intervals.column_names == ["n", "n_low_", "n_high", "n_low"]
    assert intervals["n_low_"].to_pylist() == [None, None, -math.inf]
    assert intervals["n_high"].to_pylist() == [None, None, math.inf]


def test_ends_that_an_answer_brings_are_shown_as_they_are():
    table = pa.table({"m": [7], "m_margin": [3], "m_low": [5], "m_high": [6], "k": ["A"]})
    answer = Answer(table, {"m": "m_margin"}, {"m": ("m_low", "m_high")})
    ends = {"m_low": 5, "m_high": 6}
    assert interval_table(answer, {}).to_pylist() == [{"m": 7, **ends, "k": "A"}]
    (row,) = interval_table(answer, {"m": "ranks"}).to_pylist()
    assert row == {"m": 7, "m_margin_ranks": 3, **ends, "k": "A"}


def test_ranks_are_no_distance():
    table = pa.table({"median": [7], "median_margin": [3]})
    intervals = interval_table(Answer(table, {"median": "median_margin"}), {"median": "ranks"})
    assert intervals.to_pylist() == [{"median": 7, "median_margin_ranks": 3}]
