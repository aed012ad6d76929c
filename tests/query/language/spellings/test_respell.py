"""DuckDB gives the same value to a spelling and to what it is rewritten into."""

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import deniable as dp
from deniable.query.language.parse import parse_expression
from deniable.query.language.spellings.respell import respell

ROWS = """
CREATE TABLE t AS SELECT * FROM (VALUES
    (1.5, 'x', 'y', DATE '2026-03-31', DATE '2026-04-01', TIMESTAMP '2026-03-31 23:59:59', 3),
    (-2, 'xy', NULL, DATE '2024-02-29', DATE '2024-02-28', TIMESTAMP '2024-02-29 00:00:00', 0),
    (0, NULL, 'y', DATE '1999-12-31', DATE '2000-01-01', TIMESTAMP '2026-01-01 12:30:00', 7),
    (50, '', 'a-b', NULL, DATE '2026-01-05', NULL, NULL),
    (49.9, '1:x', '', DATE '2026-11-08', NULL, TIMESTAMP '2026-11-09 06:07:08', 12)
) AS rows(x, a, b, d, e, ts, n)
"""
# What is written, and DuckDB's own words where it does not know the spelling.
SPELLINGS = {
    "CAST(ts AS DATE) + 7 > e": None,
    "CAST(ts AS DATE) - 3 <= e": None,
    "DAYNAME(d)": None,
    "MONTHNAME(d)": None,
    "WEEKDAY(d)": None,
    "DAYOFMONTH(d)": None,
    "WEEKOFYEAR(d)": None,
    "STRFTIME(d, '%m')": None,
    "STRFTIME(d, '%d')": None,
    "STRFTIME('%H', ts)": "STRFTIME(ts, '%H')",
    "STRFTIME(ts, '%M')": None,
    "STRFTIME(d, '%A')": None,
    "STRFTIME(d, '%B')": None,
    "TO_CHAR(d, 'MM')": "STRFTIME(d, '%m')",
    "DATE_FORMAT(ts, '%i')": "STRFTIME(ts, '%M')",
    "STRFTIME(d, '%Y-%m') = '2026-03'": None,
    "'2026-03' < STRFTIME(d, '%Y-%m')": None,
    "STRFTIME(d, '%Y%m') >= '202603'": None,
    "STRFTIME(d, '%Y') <> '2026'": None,
    "STRFTIME(ts, '%Y-%m-%d %H:%M:%S') = '2026-03-31 23:59:59'": None,
    "STRFTIME(d, '%Y-%m-%d') IN ('2026-03-31', '2024-02-29')": None,
    "TO_CHAR(d, 'YYYY-MM-DD') BETWEEN '2024-01-01' AND '2026-03-31'": (
        "STRFTIME(d, '%Y-%m-%d') BETWEEN '2024-01-01' AND '2026-03-31'"
    ),
    "DATE_FORMAT(d, '%Y-%m') = '2026-03'": "STRFTIME(d, '%Y-%m') = '2026-03'",
    "e::TIMESTAMP - d::TIMESTAMP > INTERVAL 1 DAY": None,
    "ts - d::TIMESTAMP >= INTERVAL '86399 seconds'": None,
    "INTERVAL 2 HOUR < (ts - d::TIMESTAMP)": None,
    "EPOCH(ts - d::TIMESTAMP)": None,
    "EXTRACT(EPOCH FROM (ts - d::TIMESTAMP))": None,
    "TIMESTAMPDIFF(HOUR, d, ts)": "DATE_SUB('hour', d::TIMESTAMP, ts)",
    "TIMESTAMPDIFF(DAY, ts, d)": "DATE_SUB('day', ts, d::TIMESTAMP)",
    "TIMESTAMPDIFF(SECOND, d, ts)": "DATE_SUB('second', d::TIMESTAMP, ts)",
    "DATE_SUB('minute', d, ts)": "DATE_SUB('minute', d::TIMESTAMP, ts)",
    "WIDTH_BUCKET(x, 0, 50, 5)": (
        "CASE WHEN x < 0 THEN 0 WHEN x >= 50 THEN 6 ELSE FLOOR(x / 10) + 1 END"
    ),
    "WIDTH_BUCKET(x, -10, 10, 4)": (
        "CASE WHEN x < -10 THEN 0 WHEN x >= 10 THEN 5 ELSE FLOOR((x + 10) / 5) + 1 END"
    ),
    "NVL2(a, b, 'none')": "CASE WHEN a IS NOT NULL THEN b ELSE 'none' END",
    "SAFE_DIVIDE(x, n)": "x / NULLIF(n, 0)",
    "IFF(x > 1, 'big', 'small')": "IF(x > 1, 'big', 'small')",
    "ZEROIFNULL(n)": "COALESCE(n, 0)",
    "SQUARE(x)": "x * x",
    "TO_DATE('2026-03-31') = d": "DATE '2026-03-31' = d",
    "CONCAT_WS('-', a, b)": None,
    "CONCAT_WS(', ', a, b, n::TEXT)": None,
    "COUNT(DISTINCT (a, b))": None,
    "COUNT(DISTINCT a, b)": (
        "COUNT(DISTINCT (a, b)) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)"
    ),
    "APPROX_PERCENTILE(n, 0.5)": "QUANTILE(n, 0.5)",
    "APPROX_MEDIAN(n)": "MEDIAN(n)",
    "UNIX_TIMESTAMP(ts)": "EPOCH(ts)",
}  # fmt: skip


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        connection.execute(ROWS)
        yield connection


def rewritten(text):
    """The whole expression in words that need no rewriting."""
    tree = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]

    def step(node):
        changed = respell(node)
        return node if changed is None else changed.transform(step)

    return tree.transform(step)


@pytest.mark.parametrize("text", SPELLINGS)
def test_duckdb_gives_both_the_same_value(database, text):
    spelling = rewritten(text)
    assert not isinstance(spelling, exp.Anonymous)
    both = SPELLINGS[text] or text, spelling.sql("duckdb")
    values = [
        [value for (value,) in database.execute(f"SELECT {form} FROM t").fetchall()]
        for form in both
    ]
    assert values[0] == pytest.approx(values[1]), both


@pytest.mark.parametrize("text", SPELLINGS)
def test_questions_know_what_it_is_rewritten_into(text):
    assert str(parse_expression(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("WIDTH_BUCKET(x, 0, 0, 5)", "WIDTH_BUCKET(age, 0, 100, 10)"),
        ("WIDTH_BUCKET(x, n, 50, 5)", "WIDTH_BUCKET(age, 0, 100, 10)"),
        ("STRFTIME(d, '%Y-%m') = '2026-3'", "as in '2026-01'"),
        ("STRFTIME(d, '%Y-%m') = 'March'", "as in '2026-01'"),
        ("STRFTIME(d, '%Y-%m') = a", "as in '2026-01'"),
        ("TIMESTAMPDIFF(MONTH, d, e)", "DATE_DIFF('month', a, b)"),
    ],
)
def test_what_cannot_be_rewritten_is_refused_with_words_that_run(text, words):
    with pytest.raises(dp.InvalidQuery) as refusal:
        parse_expression(text)
    assert words in str(refusal.value)
