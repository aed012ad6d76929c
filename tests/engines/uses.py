"""Every function of rows, row by row: what an engine's words make of odd values."""

import datetime
import math
from typing import ClassVar

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import Unsupported
from deniable.policy import Table
from deniable.query.language.parse import parse_expression
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import named, subquery
from deniable.query.relations.views import select_clean_columns
from tests.engines.plans import plan as by_hand
from tests.query.relations.test_function_table import DUCKDBS_OWN, USES

NUMBERS = [None, math.nan, math.inf, -math.inf, 1e308, -1.7e308, 1e-308, 5e-324, -0.0, 0.0]
NUMBERS += [0.5, -0.5, 2.5, -3.0, 7.25, 0.1, 123.456, -99.995, 2.0**29, 9007199254740993.0]
NUMBERS += [1e18, 1e160, -1e-160, 0.49999999999999994, 2.675, 1000.0, -1e16]
TEXTS = [None, "", "a", "ab", "cba", "A%", "%a_", "it's", "\\", "_", "ÄßŉI", "äẞŉi", "é"]
TEXTS += [
    "e\u0301",
    "\U0001f600",
    "a\U0001f600b",
    "\U00010400\U00010428",
    "İi\u0131",
    "ΑΣς",
    "ǅ",
]
TEXTS += [
    "  a  ",
    "\u3000a\u00a0",
    "\ta\n",
    "\u1f80ﬀ\u017f",
    "x" * 300,
    "1e5",
    "2020-02-29",
    "true",
]
TEXTS += ["K", "aBc", "Straße", "2024-01-01T12:30:45Z", "2024-01-01 02:30:45.5-05:30"]
TEXTS += ["2024-01-01 12:30 +0200", "2024-01-01 1:30 UTC", "2024-01-01Z", "2024-01-01T12:30+5"]
MOMENTS = [
    None,
    datetime.datetime(1, 1, 1),
    datetime.datetime(1, 1, 2, 1),
    datetime.datetime(9999, 12, 30, 23, 59, 59),
    datetime.datetime.max,
    datetime.datetime(2024, 2, 29, 12, 34, 56),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(1582, 10, 10, 5),
    datetime.datetime(2020, 1, 5),
    datetime.datetime(2019, 12, 31, 23, 30),
    datetime.datetime(2024, 3, 10, 2, 30),  # an hour that does not exist in New York
    datetime.datetime(2024, 11, 3, 1, 30),  # and one that it has twice
]
COLUMNS = {"i": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "t": "VARCHAR", "s": "VARCHAR"}
COLUMNS |= {"b": "BOOLEAN", "d": "TIMESTAMP", "e": "TIMESTAMP"}
MORE = [
    *("SUBSTRING(t, -2, 2)", "SUBSTRING(t, 3, -2)", "SUBSTRING(t, -5, 4)", "SUBSTRING(t, 2)"),
    *("RIGHT(t, -1)", "LEFT(t, 1 + 1)", "TRIM(t, s)", "LTRIM(t, s)", "UPPER(LOWER(TRIM(t)))"),
    *("ROUND(x, 12)", "ROUND(x, -12)", "ROUND(x * y, 2)", "(x * 3) % (y / 7)", "POWER(x, -2)"),
    "CAST(t AS TIMESTAMP)",
    *("SIGN(x) * 3", "ROUND(ROUND(SQRT(x), 1), 1) + x % 7", "x * y", "x + y", "LOWER(t) = s"),
]
# Their last digit is the engine's own, and PostgreSQL's may be zero where it is hardly more.
CURVES = ("EXP", "LN", "LOG", "POWER", "**", "SIN", "COS")


def rows() -> pa.Table:
    """Every value beside every other of its kind."""

    def beside(values, type_):
        pairs = [(first, two) for first in values for two in values]
        return [
            pa.array([pairs[i % len(pairs)][side] for i in range(count)], type_)
            for side in (0, 1)
        ]

    count = max(len(NUMBERS), len(TEXTS)) ** 2
    columns = [pa.array(range(count), pa.int64()), *beside(NUMBERS, pa.float64())]
    columns += beside(TEXTS, pa.string())
    columns.append(pa.array([(True, False, None)[i % 3] for i in range(count)], pa.bool_()))
    return pa.table([*columns, *beside(MOMENTS, pa.timestamp("us"))], names=list(COLUMNS))


def statement(uses: list[str]) -> str:
    """All of them, of every row."""
    known = Scope(Table.declare("data").with_schema(COLUMNS))
    expressions = [known.resolve(parse_expression(each)) for each in ("i", *uses)]
    source = subquery(select_clean_columns(known, expressions, [], outermost=True), "clean")
    chosen = [named(known.sql(each), f"v{place}") for place, each in enumerate(expressions)]
    return source.select(*chosen).sql(dialect="duckdb")


class UsesContract:
    """Inherit beside `EngineContract`, and say which uses the engine refuses."""

    refused_uses: ClassVar[set[str]] = {"CAST(x AS TEXT)", "REVERSE(t)"} | DUCKDBS_OWN

    def given(self) -> pa.Table:
        """The rows, as the engine can store them."""
        return rows()

    def valued(self, engine, sql) -> pa.Table:
        return pa.Table.from_batches(list(engine._run_statement(_written(engine, sql))))

    def test_every_function_has_duckdbs_values(self):
        questions = list(
            dict.fromkeys([*(each for uses in USES.values() for each in uses), *MORE])
        )
        tables = {"data": self.given()}
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            kept = [each for each in questions if not _refused(engine, statement([each]))]
            assert set(questions) - set(kept) == self.refused_uses
            answers = [
                self.valued(each, statement(kept)).sort_by("v0").to_pydict()
                for each in (engine, reference)
            ]
        different = {}
        for place, use in enumerate(kept, start=1):
            near = any(word in use.upper() for word in CURVES)
            pairs = zip(
                *(each[f"v{place}"] for each in answers), rows().to_pylist(), strict=True
            )
            apart = [pair for pair in pairs if not _same(*pair[:2], near=near)]
            if apart:
                different[use] = (len(apart), apart[0])
        assert different == {}


def _written(engine, sql):
    """A statement of ours in the engine's text."""
    return engine.prepare(by_hand(sql)).statements[0]


def _refused(engine, sql):
    try:
        _written(engine, sql)
    except Unsupported:
        return True
    return False


def _same(ours, theirs, *, near):
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(theirs, float):
        ours = float(ours)
        if math.isnan(theirs):
            return math.isnan(ours)
        return ours == theirs or (near and ours == pytest.approx(theirs, rel=1e-15, abs=1e-307))
    return ours == theirs
