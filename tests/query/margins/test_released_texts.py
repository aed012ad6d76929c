"""Functions of released texts, beside DuckDB's own."""

import datetime
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.released_texts import TEXT_OPERATIONS
from deniable.query.plan.plan import Constant, KeyColumn, Number, Operation

TEXTS = ["ab", "", None, "Straße", "aXb", "%_", "äÖ", "a\U0001f600b", "abab"]
KEY = KeyColumn(0)
CASES = [
    ("lower", [], "lower(k)"),
    ("upper", [], "upper(k)"),
    ("length", [], "length(k)"),
    ("left", [Fraction(1)], "left(k, 1)"),
    ("left", [Fraction(-1)], "left(k, -1)"),
    ("right", [Fraction(2)], "right(k, 2)"),
    ("right", [Fraction(-1)], "right(k, -1)"),
    ("substring", [Fraction(2)], "substring(k, 2)"),
    ("substring", [Fraction(1), Fraction(2)], "substring(k, 1, 2)"),
    ("joined", ["x"], "k || 'x'"),
    ("concat", ["x"], "concat(k, 'x')"),
    ("like", ["a%"], "k LIKE 'a%'"),
    ("like", ["%b"], "k LIKE '%b'"),
    ("like", ["a_b"], "k LIKE 'a_b'"),
    ("like", ["%b%b%"], "k LIKE '%b%b%'"),
    ("like", ["ab"], "k LIKE 'ab'"),
    ("ilike", ["%x%"], "k ILIKE '%x%'"),
    ("starts with", ["a"], "starts_with(k, 'a')"),
    ("ends with", ["b"], "suffix(k, 'b')"),
    ("contains", ["X"], "contains(k, 'X')"),
    ("cast text", [], "k"),
    ("=", ["ab"], "k = 'ab'"),
    ("<", ["b"], "k < 'b'"),
    ("is null", [], "k IS NULL"),
    ("coalesce", ["none"], "coalesce(k, 'none')"),
    ("nullif", ["ab"], "nullif(k, 'ab')"),
]


def constant(value):
    return Number(value) if isinstance(value, Fraction) else Constant(value)


@pytest.mark.parametrize(("name", "more", "sql"), CASES, ids=[case[2] for case in CASES])
def test_the_values_are_duckdbs(name, more, sql):
    keys = np.empty(len(TEXTS), dtype=object)
    keys[:] = TEXTS
    node = Operation(name, (KEY, *map(constant, more)))
    found = [None if one != one else one for one in evaluate(node, {}, [keys]).tolist()]
    listed = ", ".join(f"({i}, ?)" for i in range(len(TEXTS)))
    rows = duckdb.execute(f"SELECT {sql} FROM (VALUES {listed}) t(i, k) ORDER BY i", TEXTS)
    assert found == [row[0] for row in rows.fetchall()]


def test_every_text_operation_is_tested():
    others = {"integer text", "number text", "cast date"}
    assert {case[0] for case in CASES} >= set(TEXT_OPERATIONS) - others


def test_numbers_are_written_as_in_duckdb():
    numbers = [0.0, -3.0, 2.5, 1e15, 0.1, 123456.789]
    keys = [np.array(numbers)]
    found = evaluate(Operation("number text", (KEY,)), {}, keys).tolist()
    expected = [
        duckdb.execute("SELECT ?::DOUBLE::TEXT", [one]).fetchone()[0] for one in numbers
    ]
    assert found == expected
    assert evaluate(Operation("integer text", (KEY,)), {}, keys).tolist()[:2] == ["0", "-3"]


def test_dates_are_compared_as_moments():
    days = np.empty(3, dtype=object)
    days[:] = [datetime.datetime(2026, 1, 5), None, "5881580-07-11"]  # the last is too far away
    later = Operation(">", (KEY, Operation("cast date", (Constant("2026-01-04"),))))
    assert [one if one == one else None for one in evaluate(later, {}, [days]).tolist()] == [
        1,
        None,
        None,
    ]
    never = Operation("=", (KEY, Operation("cast date", (Constant("not a date"),))))
    assert np.isnan(evaluate(never, {}, [days])).all()
