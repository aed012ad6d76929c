"""What a copy will measure, and every refusal before the charge."""

from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter

FRAME = pa.table(
    {
        "p": [1, 2],
        "ward": ["A", "B"],
        "age": [30, 60],
        "grade": [1, 2],
        "note": ["x", "y"],
        "day": pa.array([0, 1], pa.date32()),
    }
)
DECLARED = {
    "keys": {"ward": ["A", "B"]},
    "bounds": {"age": (0, 100), "grade": (1, 6)},
    "unit": "p",
    "max_rows_per_unit_per_group": 2,
}
USUAL = ["ward", "age", "grade"]


@pytest.fixture
def opened():
    with dp.protect(FRAME, name="t", epsilon=2, delta=1e-5, **DECLARED) as session:
        yield session


def test_explain_says_what_goes_to_what(opened):
    text = str(opened.copy(epsilon=1, columns=USUAL, method="mst", explain=True))
    assert "A copy of t at epsilon 1, delta 1e-07, in one charge" in text
    assert "5 % cuts age at 31 private quantiles" in text
    assert "31 % measures 3 columns" in text
    assert "31 % chooses 2 of 3 pairs" in text
    assert "2 % scores 3 tables" in text
    assert "one p counts with at most 2 rows (add-remove)" in text
    assert "method mst: columns depend on each other along a tree" in text
    assert "the table is read about 7 times; the model is fitted in closed form" in text
    assert opened.remaining.epsilon == 2


def test_explain_says_how_long_fitting_may_take(opened):
    text = str(opened.copy(epsilon=1, columns=USUAL, method="aim", explain=True))
    assert "32.6667 % measures 3 columns" not in text  # cuts of age come off first
    assert "31 % measures 3 columns" in text
    assert "fitting the model takes up to about 1 s of one core" in text
    rule = [{"ward": "A", "grade": 1}]
    terms = {"method": "mst", "impossible": rule, "explain": True}
    assert "the model is fitted in rounds" in str(
        opened.copy(epsilon=1, columns=USUAL, **terms)
    )


def test_all_columns_that_cannot_be_copied_are_named_at_once(opened):
    with pytest.raises(InvalidParameter) as refused:
        opened.copy(epsilon=1)
    text = str(refused.value)
    assert "The cells of note are not known" in text
    assert "Nor can day be copied as declared." in text
    assert text.endswith("Without all of these: columns=['ward', 'age', 'grade'].")


def test_a_workload_that_is_one_text_is_quoted_whole(opened):
    with pytest.raises(InvalidParameter, match="Found 'ward'"):
        opened.copy(epsilon=1, columns=USUAL, workload="ward")


def test_public_cuts_cost_nothing(opened):
    terms = {"columns": USUAL, "cuts": {"age": [18, 65]}, "explain": True}
    text = str(opened.copy(epsilon=1, method="mst", **terms))
    assert "quantiles" not in text
    assert "32.6667 % measures 3 columns" in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "The cells of note are not known"),
        ({"columns": ["note"]}, "find its keys with `keys_epsilon`"),
        ({"columns": ["ward", "day"]}, "The cells of day are not known"),
        ({"columns": ["ward", "wards"]}, "Did you mean"),
        ({"columns": ["ward", "p"]}, "identify people"),
        ({"columns": ["ward", "ward"]}, "twice"),
        ({"columns": "ward"}, "must be a list"),
        ({"columns": USUAL, "method": "gan"}, '"auto", "mst" or "aim"'),
        ({"columns": USUAL, "rows": 0}, "rows"),
        ({"columns": USUAL, "rows": 10**12}, "at most 100,000,000"),
        ({"columns": USUAL, "confidence": 1 - Fraction(1, 10**18)}, "at most 1 - 1e-9"),
        ({"columns": USUAL, "cuts": {"ward": [1]}}, "numbers with declared bounds"),
        ({"columns": USUAL, "workload": [["ward", "note"]]}, "`workload` is a list"),
        ({"columns": USUAL, "workload": []}, "one or more"),
        ({"columns": USUAL, "delta": 0}, "needs a delta"),
        ({"columns": USUAL, "table": "u"}, "no private table"),
    ],
)
def test_faults_are_found_before_the_charge(opened, more, message):
    with pytest.raises(InvalidParameter, match=message):
        opened.copy(epsilon=1, **more)
    assert opened.remaining.epsilon == 2


def test_very_many_keys_or_columns_are_refused():
    many = {f"c{i}": [0] for i in range(61)}
    with (
        dp.protect(
            pa.table(many), keys=dict.fromkeys(many, (0,)), epsilon=1, delta=1e-6
        ) as session,
        pytest.raises(InvalidParameter, match="61 columns"),
    ):
        session.copy(epsilon=1)
    keys = {"a": [f"k{i}" for i in range(5000)]}
    with (
        dp.protect(pa.table({"a": ["k1"]}), keys=keys, epsilon=1, delta=1e-6) as session,
        pytest.raises(
            InvalidParameter, match=r"5,000 cells.*coarser values. Nothing was spent.$"
        ),
    ):
        session.copy(epsilon=1)
    keys = {f"c{i}": list(range(900)) for i in range(5)}
    with (
        dp.protect(
            pa.table({name: [0] for name in keys}), keys=keys, epsilon=1, delta=1e-6
        ) as session,
        pytest.raises(InvalidParameter, match="cells together"),
    ):
        session.copy(epsilon=1)
