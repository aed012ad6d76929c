"""Functions of released texts, beside DuckDB's own."""

import datetime
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.released_texts import TEXT_OPERATIONS, read_moment
from deniable.query.plan.plan import Constant, KeyColumn, Number, Operation

TEXTS = ["ab", "", "İx", None, "Straße", "aXb", "%_", "äÖ", "a\U0001f600b", "abab"]
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
    ("ilike", ["%SS%"], "k ILIKE '%SS%'"),
    ("ilike", ["_Ö"], "k ILIKE '_Ö'"),
    ("ilike", ["STRA_E"], "k ILIKE 'STRA_E'"),
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
    actual = [
        None if value != value else value for value in evaluate(node, {}, [keys]).tolist()
    ]
    listed = ", ".join(f"({i}, ?)" for i in range(len(TEXTS)))
    rows = duckdb.connect().execute(
        f"SELECT {sql} FROM (VALUES {listed}) t(i, k) ORDER BY i", TEXTS
    )
    assert actual == [row[0] for row in rows.fetchall()]


PLACES = range(-6, 7)
CUTS = [
    *(("left", (n,)) for n in PLACES),
    *(("right", (n,)) for n in PLACES),
    *(("substring", (n,)) for n in PLACES),
    *(("substring", (n, length)) for n in PLACES for length in PLACES),
]


@pytest.mark.parametrize("text", ["", "a", "abc", "aäÖb"])
def test_texts_are_cut_where_duckdb_cuts_them(text):
    written = [f"{name}(k, {', '.join(map(str, places))})" for name, places in CUTS]
    expected = duckdb.connect().execute(
        f"SELECT {', '.join(written)} FROM (SELECT ? AS k)", [text]
    )
    key = np.array([text], dtype=object)
    actual = [
        evaluate(Operation(name, (KEY, *map(Number, map(Fraction, places)))), {}, [key]).item()
        for name, places in CUTS
    ]
    assert actual == list(expected.fetchone())


@pytest.mark.parametrize("name", ["left", "right", "substring"])
def test_no_place_is_too_far_to_cut_a_text(name):
    places = np.array([np.inf, 1e300, -np.inf, -1e300, np.nan])
    actual = TEXT_OPERATIONS[name](np.array(["abc"] * 5, dtype=object), places).tolist()
    whole, nothing = ("", "abc") if name == "substring" else ("abc", "")
    assert actual == [whole, whole, nothing, nothing, None]
    with_length = TEXT_OPERATIONS["substring"](np.array(["abc"], dtype=object), 1.0, np.inf)
    assert with_length.tolist() == ["abc"]


def test_every_text_operation_is_tested():
    others = {"integer text", "number text", "cast date"}
    assert {case[0] for case in CASES} >= set(TEXT_OPERATIONS) - others


def test_numbers_are_written_as_in_duckdb():
    numbers = [0.0, -3.0, 2.5, 1e15, 0.1, 123456.789]
    keys = [np.array(numbers)]
    actual = evaluate(Operation("number text", (KEY,)), {}, keys).tolist()
    expected = [
        duckdb.connect().execute("SELECT ?::DOUBLE::TEXT", [number]).fetchone()[0]
        for number in numbers
    ]
    assert actual == expected
    assert evaluate(Operation("integer text", (KEY,)), {}, keys).tolist()[:2] == ["0", "-3"]


def test_dates_are_compared_as_moments():
    days = np.empty(3, dtype=object)
    days[:] = [datetime.datetime(2026, 1, 5), None, "5881580-07-11"]  # the last is too far away
    later = Operation(">", (KEY, Operation("cast date", (Constant("2026-01-04"),))))
    assert [
        value if value == value else None for value in evaluate(later, {}, [days]).tolist()
    ] == [
        1,
        None,
        None,
    ]
    never = Operation("=", (KEY, Operation("cast date", (Constant("not a date"),))))
    assert np.isnan(evaluate(never, {}, [days])).all()


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31",
        "2026-1-1",
        "2026/1/1",
        "2026-01-31 10:00",
        "2026-01-31 1:2:3.5",
        "2026-01-31T10:00:00.1234567",
        "2026-01-31T10:00:00Z",
        "26-01-01",
        "2026-02-30",
        "2026-01/31",
        "20260131",
        "2026-W01-1",
        "2026-01",
        "2026-01-31 10",
        "2026-01-31 10:00:60",
        " 2026-01-31 ",
        "nonsense",
        "",
    ],
)
def test_moments_are_read_as_in_the_rows(text):
    rows = duckdb.connect().execute("SELECT TRY_CAST(? AS TIMESTAMP)", [text])
    assert read_moment(text) == rows.fetchone()[0]
