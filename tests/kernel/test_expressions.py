"""Expressions of one row: their ranges contain every value, and none can fail."""

from fractions import Fraction

import duckdb
import pytest
import sqlglot

from deniable.errors import PlanRefused
from deniable.kernel.facts import TableFacts
from deniable.kernel.relations import Relation
from deniable.kernel.sources import scan, scope_of
from deniable.kernel.values import BOOL, NANS, SIGNED, UNSURE, Value, double, integer

COLUMNS = {
    "x": Value("double", zeros=SIGNED),
    "y": double(-2, 3),
    "i": integer(-9, 9, 32),
    "n": Value("int", -(1 << 63), (1 << 63) - 1, 64),
    "t": Value("text"),
    "b": BOOL,
    "d": Value("time"),
    "m": Value("double", zeros=UNSURE),
    "f": Value("raw number", zeros=UNSURE),
}
RAW = scan(TableFacts("s", {"r": "text", "w": "date", "o": "other"}, public=True)).columns
ROW = Relation(COLUMNS | dict(RAW), None, 1)
STAMPS = "CAST('0001-01-02 00:00:00' AS TIMESTAMP) AND CAST('9999-12-30 23:59:59' AS TIMESTAMP)"
DAY = f"CASE WHEN d BETWEEN {STAMPS} THEN d END"
NEAR = "CASE WHEN x BETWEEN -48000 AND 48000 THEN {} END"
GROWN = "LENGTH(t) * 2 + (LENGTH(t) - LENGTH(REPLACE(t, 'ab', ''))) * 1"


def value_of(text):
    return scope_of(ROW).value(sqlglot.parse_one(text, dialect="duckdb"))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("i + 3", -6, 12),
        ("i * i", -81, 81),
        ("3 - i", -6, 12),
        ("-i", -9, 9),
        ("CASE WHEN x > 5 THEN 5 WHEN x < 0 THEN 0 ELSE x END", 0, 5),
        ("CASE WHEN i > 5 THEN 5 ELSE i END", -9, 5),
        ("CASE WHEN i >= 5 THEN 7 ELSE i END", -9, 7),
        ("CASE WHEN i < 5 THEN i ELSE 0 END", -9, 4),
        ("CAST(CASE WHEN x > 5 THEN 5 WHEN x < 0 THEN 0 ELSE x END AS INT)", 0, 5),
        ("SIGN(x)", -1, 1),
        ("COALESCE(i, 50)", -9, 50),
        ("LEAST(i, 4)", -9, 9),
        ("TRY_CAST(t AS BIGINT)", -(1 << 63), (1 << 63) - 1),
        ("LENGTH(t)", 0, 1 << 40),
    ],
)
def test_a_range_holds_what_it_says(text, low, high):
    bounds = value_of(text)
    assert (bounds.low, bounds.high) == (low, high)


@pytest.mark.parametrize("text", ["x + 1", "-x", "CASE WHEN x < 0 THEN 0 ELSE x END", "y % x"])
def test_what_may_be_nan_has_no_range(text):
    assert value_of(text).bounded is False


@pytest.mark.parametrize(
    "text",
    [
        "x / NULLIF(m, 0)",
        "POWER(m, 2)",
        "TRY_CAST(x AS TEXT)",
        "TRY_CAST(r AS DOUBLE)",
        "TRY_CAST(w AS TIMESTAMP)",
        "POWER((m + CAST(0.0 AS DOUBLE)), -1)",
        "TRY_CAST(CASE WHEN m < 0 THEN m ELSE ABS(m) END AS TEXT)",
        "t LIKE 'a!%' ESCAPE '!'",
        "t LIKE 'a!!' ESCAPE '!'",
        f"EXTRACT(YEAR FROM {DAY})",
        f"DATE_TRUNC('MONTH', {DAY})",
        f"DATE_DIFF('DAY', {DAY}, {DAY})",
        NEAR.format(f"({DAY}) + INTERVAL (TRY_CAST(x AS BIGINT)) MONTH"),
        NEAR.format(f"({DAY}) + INTERVAL (TRY_CAST(x AS BIGINT)) SECOND"),
        f"({DAY}) + INTERVAL (i) MONTH",
        "REPLACE(t, 'ab', 'é')",
        f"CASE WHEN {GROWN} <= 32768 THEN REPLACE(t, 'ab', 'xyz') END",
        "LEFT(t, 3)",
        "SPLIT_PART(t, '-', 2)",
        "x IN (1, 2) AND NOT t IN ('a')",
        "CASE WHEN b THEN t END",
        "x IS DISTINCT FROM 3",
    ],
)
def test_total_expressions_are_accepted(text):
    assert value_of(text).kind


@pytest.mark.parametrize(
    "text",
    [
        "CAST(x AS INT)",
        "CAST(t AS INT)",
        "CAST(CASE WHEN x < 0 THEN 0 ELSE x END AS INT)",
        "CAST(CASE WHEN x > 3000000000 THEN 3000000000 WHEN x < 0 THEN 0 ELSE x END AS INT)",
        "CAST(CASE WHEN x > 200 THEN 200 WHEN x < 0 THEN 0 ELSE x END AS TINYINT)",
        "n + 1",
        "-n",
        "-TRY_CAST(t AS BIGINT)",
        "ABS(n)",
        "i * n",
        " + ".join(["SIGN(x)"] * 130),
        "i // 3",
        "i / 3",
        "i % 3",
        "t + 1",
        "t = 3",
        "r = 'a'",
        "b > 3",
        "x / m",
        "POWER(m, -1)",
        "POWER((m + CAST(-0.0 AS DOUBLE)), -1)",
        "POWER((m + y), -1)",
        "TRY_CAST(CASE WHEN m <= 0 THEN m ELSE ABS(m) END AS TEXT)",
        "TRY_CAST(m AS TEXT)",
        "TRY_CAST((m + CAST(0.0 AS DOUBLE)) AS TEXT)",
        "TRY_CAST(NULLIF(m, CAST(0.0 AS DOUBLE)) AS TEXT)",
        "TRY_CAST(CASE WHEN m > 0 THEN m END AS TEXT)",
        "TRY_CAST(TRY_CAST(f AS DOUBLE) AS TEXT)",
        "TRY_CAST(d AS TEXT)",
        "TRY_CAST(w AS TEXT)",
        "TRY_CAST(o AS TEXT)",
        "CAST('2026-02-30 00:00:00' AS TIMESTAMP)",
        "CAST('2026' AS TIMESTAMP)",
        "t LIKE 'a!' ESCAPE '!'",
        "t LIKE 'a!!!' ESCAPE '!'",
        "t LIKE t ESCAPE '!'",
        "t LIKE 'a' ESCAPE '!!'",
        "EXTRACT(YEAR FROM d)",
        f"EXTRACT(EPOCH FROM {DAY})",
        f"DATE_DIFF('MICROSECOND', {DAY}, {DAY})",
        "d + INTERVAL (i) MONTH",
        f"({DAY}) + INTERVAL (n) SECOND",
        f"({DAY}) + INTERVAL (y) SECOND",
        f"({DAY}) + INTERVAL (TRY_CAST(x AS BIGINT)) MONTH",
        f"({DAY}) + INTERVAL (i) YEAR",
        f"({DAY}) + INTERVAL '1' MONTH",
        f"({DAY}) - INTERVAL (i) MONTH",
        f"({DAY}) + i",
        f"INTERVAL (i) MONTH + ({DAY})",
        f"EXTRACT(YEAR FROM ({DAY}) + INTERVAL (i) MONTH)",
        NEAR.format(f"({DAY}) + INTERVAL (TRY_CAST(x * 2 AS BIGINT)) MONTH"),
        NEAR.replace("48000", "49000").format(
            f"({DAY}) + INTERVAL (TRY_CAST(x AS BIGINT)) MONTH"
        ),
        "REPLACE(t, t, 'a')",
        "REPLACE(t, 'a', t)",
        "REPLACE(t, '', 'a')",
        "REPLACE(i, 'a', '')",
        "REPLACE(t, 'ab', 'xyz')",
        "REPLACE(t, 'a', 'é')",
        f"CASE WHEN {GROWN} <= 32769 THEN REPLACE(t, 'ab', 'xyz') END",
        f"CASE WHEN {GROWN} > 32768 THEN REPLACE(t, 'ab', 'xyz') END",
        f"CASE WHEN {GROWN} <= 32768 THEN REPLACE(t, 'ab', 'wxyz') END",
        f"CASE WHEN {GROWN} <= 32768 THEN REPLACE(t, 'bb', 'xyz') END",
        f"CASE WHEN {GROWN} <= 32768 THEN REPLACE(LOWER(t), 'ab', 'xyz') END",
        "CASE WHEN LENGTH(t) <= 32768 THEN REPLACE(t, 'ab', 'xyz') END",
        "LEFT(t, t)",
        "LEFT(t, i)",
        "SUBSTRING(t, 9223372036854775807)",
        "LOWER(i)",
        "RANDOM()",
        "NOW()",
        "ERROR(t)",
        "HASH(t)",
        "$salt + 1",
        "SUM(i)",
        "MAX(i) OVER ()",
        "(SELECT 1)",
        "EXISTS(SELECT 1)",
        "[1, 2]",
        "1.5 + i",
        "z",
        "CASE WHEN b THEN t ELSE 1 END",
        "CASE WHEN b THEN t ELSE x END",
        "CASE WHEN t THEN 1 END",
    ],
)
def test_what_could_fail_or_has_no_rule_is_refused(text):
    with pytest.raises(PlanRefused):
        value_of(text)


def test_an_end_that_is_no_double_is_moved_outwards():
    """Rounding is monotone: where an end is a double itself, no result lies beyond it."""
    assert (double(0, 200).low, double(0, 200).high) == (0, 200)
    tenth = double(Fraction(-1, 10), Fraction(1, 10))
    assert tenth.low <= Fraction(-0.1) < Fraction(0.1) <= tenth.high
    huge = double(2**60 + 1, 2**60 + 255)
    assert huge.low <= float(2**60 + 1) < float(2**60 + 255) <= huge.high


LARGE = (
    "CASE WHEN n > 9223372036854775400 THEN 9223372036854775400 WHEN n < 0 THEN 0 ELSE n END"
)
MOST = 2**53 + 3  # which becomes 2**53 + 4 as a double
NEAR = f"CASE WHEN n > {MOST} THEN {MOST} WHEN n < {MOST} THEN {MOST} ELSE n END"


@pytest.mark.parametrize(
    "text",
    [
        f"CAST(CASE WHEN b THEN {LARGE} ELSE y END AS BIGINT)",
        f"CAST(COALESCE({LARGE}, y) AS BIGINT)",
        f"CAST(LEAST({LARGE}, y) AS BIGINT)",
    ],
)
def test_a_whole_number_beside_a_double_is_rounded_and_may_no_longer_fit(text):
    """2**63 - 408 becomes 2**63, and the cast would fail for that row."""
    with pytest.raises(PlanRefused, match="overflow"):
        value_of(text)


@pytest.mark.parametrize(
    "text", [f"{NEAR} - CAST(9007199254740991 AS DOUBLE)", f"({NEAR}) / CAST(5 AS DOUBLE)"]
)
def test_a_whole_number_beside_a_double_is_rounded_before_the_rest(text):
    """The difference would be 4, and is 5; the quotient would be a whole number."""
    bounds = value_of(text)
    with duckdb.connect() as engine:
        engine.execute(f"CREATE TABLE t AS SELECT {MOST}::BIGINT AS n")
        told = engine.sql(f"SELECT {text} FROM t").fetchall()[0][0]
    assert bounds.low <= Fraction(told) <= bounds.high


def test_a_condition_says_what_is_not_null():
    assert value_of("CASE WHEN x IS NULL THEN 1 ELSE x END").null is False
    assert value_of("CASE WHEN x IS NULL THEN x ELSE 1 END").null is True
    assert value_of("CASE WHEN x > 3 THEN x ELSE 1 END").null is False
    assert value_of("CASE WHEN x > 3 THEN 1 ELSE x END").null is True
    assert value_of("CASE WHEN NOT x > 3 THEN x ELSE 1 END").null is True


def test_the_engine_means_what_the_rules_say():
    """What the proofs take from the engine: DuckDB's NaN, zeros, casts and divisions."""
    with duckdb.connect() as engine:

        def told(text):
            return engine.sql(f"SELECT {text}").fetchall()[0][0]

        nan = "'nan'::DOUBLE"
        assert told(f"{nan} > 1e308 AND NOT {nan} < 0 AND {nan} >= 0 AND {nan} = {nan}")
        assert told("HASH(0.0::DOUBLE) = HASH('-0.0'::DOUBLE)")
        assert told("(-7)::INT128 // 2::INT128") == -3
        assert told("TYPEOF(SIGN(1.5::DOUBLE))") == "TINYINT"
        assert told("TYPEOF(COUNT(*))") == "BIGINT"
        assert told("CAST(2.5::DOUBLE AS INT)") == 2
        assert told("LEAST(NULL, 3)") == 3
        rows = "(VALUES (1, 'a'), (2, 'b')) AS v(x, k)"
        assert engine.sql(f"SELECT 'z' AS k, k AS l FROM {rows} ORDER BY l").fetchall() == [
            ("z", "a"),
            ("z", "b"),
        ]
        assert engine.sql(f"SELECT TYPEOF(SUM(x)) FROM {rows}").fetchall() == [("HUGEINT",)]


@pytest.mark.parametrize(
    ("text", "zeros"),
    [
        ("m + CAST(0.0 AS DOUBLE)", NANS),
        ("CAST(i AS DOUBLE) + m", NANS),
        ("CASE WHEN m > 5 THEN 5 WHEN m < -5 THEN -5 ELSE m END + CAST(0.0 AS DOUBLE)", 0),
        ("m + CAST(-0.0 AS DOUBLE)", UNSURE),
        ("m + x", UNSURE),
        ("m - CAST(0.0 AS DOUBLE)", UNSURE),
        ("m * CAST(0.0 AS DOUBLE)", UNSURE),
    ],
)
def test_a_sum_with_a_zero_has_no_sign_to_show(text, zeros):
    """-0.0 is only the sum of -0.0 and -0.0; a difference and a product may be it, too."""
    assert value_of(text).zeros == zeros


def test_rows_that_tie_may_hold_several_nans():
    """NaN equals -NaN, and its text tells which it is. A range excludes both."""
    with duckdb.connect() as engine:
        nans = "SELECT x, -x, x = -x, CAST(-x + 0.0::DOUBLE AS TEXT)"
        (row,) = engine.sql(f"{nans} FROM (SELECT 'nan'::DOUBLE AS x)").fetchall()
    assert row[2:] == (True, "-nan")
    assert Value("double").interchanged().zeros == NANS
    assert Value("double", high=9).interchanged().zeros == 0


def test_duckdb_adds_zeros_so():
    zero, none = "CAST(0.0 AS DOUBLE)", "(-CAST(0.0 AS DOUBLE))"
    sums = [f"{none} + {zero}", f"{zero} + {none}", f"{none} + {none}", f"{none} - {zero}"]
    shown = ", ".join(f"CAST({term} AS TEXT)" for term in sums)
    with duckdb.connect() as engine:
        row = engine.execute(f"SELECT {shown}").fetchone()
    assert row == ("0.0", "0.0", "-0.0", "-0.0")
