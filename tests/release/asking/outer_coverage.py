"""Forty expressions over released groups, fixed beforehand, and how often margins hold.

A third of them are ratios and products of counts that are within three margins of zero. True
values are those of plain DuckDB over the table itself.
"""

from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.release.asking.outer_margins import compute_outer
from deniable.release.asking.outer_question import plan_outer

LARGE = [400, 350, 300, 520, 610, 700]
SMALL = [0, 2, 5, 9, 14, 18]  # the margin of a count is 6 at this epsilon
EPSILON = 1
_NOT_ONE = InvalidQuery("This is not a private question by itself.")
INNER = """SELECT k, size, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k, size"""
AVERAGES = "SELECT k, size, AVG(x) AS mean, COUNT(*) AS n FROM t GROUP BY k, size"

ROWS = {
    "unchanged": "n",
    "scaled": "n * 3 - 7",
    "two sums": "s - 20 * n",
    "whole": "SUM(n) OVER ()",
    "running": "SUM(n) OVER (ORDER BY k, size)",
    "moving": "AVG(n) OVER (ORDER BY k, size ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "step": "n - LAG(n) OVER (ORDER BY k, size)",
    "ahead": "LEAD(s) OVER (ORDER BY k, size)",
    "first": "FIRST_VALUE(n) OVER (PARTITION BY size ORDER BY k, size) - n",
    "by size": "n - AVG(n) OVER (PARTITION BY size)",
    "kept": "CASE WHEN size = 'large' THEN n ELSE s END",
    "filled": "COALESCE(LAG(n) OVER (ORDER BY k, size), 0)",
    "rounded": "ROUND(s / 10.0, 1)",
    "cast": "CAST(n AS DOUBLE) / 4",
    "share": "n * 100.0 / SUM(n) OVER ()",
    "rounded share": "ROUND(100.0 * n / SUM(n) OVER (), 1)",
    "share of size": "n / SUM(n) OVER (PARTITION BY size)",
    "mean": "s / n",
    "safe mean": "s / NULLIF(n, 0)",
    "growth": "(n - LAG(n) OVER (ORDER BY k, size)) / LAG(n) OVER (ORDER BY k, size)",
    "growth less one": "n / LAG(n) OVER (ORDER BY k, size) - 1",
    "odds": "n / (SUM(n) OVER () - n)",
    "inverse": "1000.0 / n",
    "index": "100.0 * n / FIRST_VALUE(n) OVER (PARTITION BY size ORDER BY k, size)",
    "product": "n * s",
    "square": "n * n",
    "logarithm": "LN(n)",
    "root": "SQRT(n)",
    "power": "POWER(n, 2) / 100",
    "ratio of logs": "LN(n) / LN(s)",
    "ratio product": "n * s / SUM(n) OVER ()",
    "largest": "MAX(n) OVER ()",
    "rank": "RANK() OVER (ORDER BY n DESC)",
    "above": "CASE WHEN n > 100 THEN 1 ELSE 0 END",
}
WHOLE = {
    "total": "SELECT 1 AS one, SUM(n) AS v FROM ({})",
    "average": "SELECT size AS one, AVG(n) AS v FROM ({}) GROUP BY size",
    "mean of all": "SELECT size AS one, SUM(s) / SUM(n) AS v FROM ({}) GROUP BY size",
    "many": "SELECT 1 AS one, COUNT(*) FILTER (WHERE n > 100) AS v FROM ({})",
    "largest three": "SELECT k || size AS one, n AS v FROM ({}) ORDER BY n DESC LIMIT 3",
    "shares above": "SELECT k || size AS one, n * 2 AS v FROM ({}) WHERE n > 12",
}


def make_session() -> tuple[dp.Session, duckdb.DuckDBPyConnection]:
    """A table whose limits do not bite, and a plain database with the same table."""
    keys = np.repeat(np.arange(12), LARGE + SMALL)
    size = np.where(keys < 6, "large", "small")
    x = (np.arange(len(keys)) * 7) % 41
    table = pa.table({"k": keys, "size": size, "x": x})
    declared = {"k": list(range(12)), "size": ["large", "small"]}
    limits = {"bounds": {"x": (0, 40)}, "keys": declared}
    session = dp.protect(table, name="t", epsilon=10**7, **limits)
    plain = duckdb.connect()
    plain.register("t", table)
    return session, plain


TRUE = """SELECT k, size, COUNT(x) AS n, COALESCE(SUM(x), 0) AS s FROM
    (SELECT * FROM range(12) AS r(k), (VALUES ('large'), ('small')) AS z(size))
    LEFT JOIN t USING (k, size) GROUP BY k, size"""


def count_misses(trials: int) -> dict[str, tuple[int, int, int]]:
    """For each expression: values outside of their margin, values, and margins shown.

    Each statement is planned once; every trial has new noise and computes all of them again.
    """
    session, plain = make_session()
    listed = ", ".join(f'{text} AS "{name}"' for name, text in ROWS.items())
    questions = {"rows": f"SELECT k, size, {listed} FROM ({{}})", **WHOLE}
    truths = {}
    for name, text in questions.items():
        loose = text.split(" ORDER BY n DESC")[0].split(" WHERE n > 12")[0]
        table = plain.sql(loose.format(TRUE)).to_arrow_table()
        keys = ["k", "size"] if name == "rows" else ["one"]
        truths[name] = {tuple(row[k] for k in keys): row for row in table.to_pylist()}
    misses: Counter[str] = Counter()
    values: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    inner = session.plan(INNER, epsilon=EPSILON)
    divided = {
        name: plan_outer(session, text.format(INNER), {"epsilon": EPSILON}, _NOT_ONE).divided
        for name, text in questions.items()
    }
    for _ in range(trials):
        release = session.release(inner, fresh=True)
        for question in questions:
            answer, _ = compute_outer(divided[question], {"released_1": release})
            for row in answer.table.to_pylist():
                keys = ("k", "size") if question == "rows" else ("one",)
                true = truths[question][tuple(row[k] for k in keys)]
                for column in answer.margins:
                    name = column if question == "rows" else question
                    half, value, real = row[f"{column}_margin"], row[column], true[column]
                    if value is None or real is None:
                        continue
                    values[name] += 1
                    if half is not None:
                        shown[name] += 1
                        misses[name] += abs(value - float(real)) > half + 1e-9 * (
                            1 + abs(value)
                        )
    return {name: (misses[name], values[name], shown[name]) for name in [*ROWS, *WHOLE]}
