"""Lists of the source's own: every engine that has them gives DuckDB's integers."""

import contextlib
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import Unsupported
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines.contract import LISTS, same
from tests.query import lists

# Over every odd list: long texts in it, huge numbers, more elements than any engine reads.
ODD = [None, "", "a", "it's", "\U0001f600", "é", "12", "x" * 70_000, "1e999", "nan"]
QUESTIONS = [
    "SELECT COUNT(*) AS n, COUNT(code) AS m FROM visits, UNNEST(codes) AS u(code)",
    "SELECT LENGTH(code) AS k, COUNT(*) AS n FROM visits LEFT JOIN UNNEST(codes) AS u(code) ON "
    "TRUE GROUP BY LENGTH(code)",
    "SELECT SUM(score) AS s, COUNT(score) AS n FROM visits, UNNEST(scores) AS u(score)",
    "SELECT SUM(day) AS s, COUNT(*) AS n FROM visits, UNNEST(days) AS u(day) WHERE day > -3",
    "SELECT COUNT(*) AS n FROM visits, UNNEST(flags) AS u(flag) WHERE NOT flag",
    "SELECT SUM(n) AS s FROM (SELECT patient, COUNT(*) AS n FROM visits, UNNEST(codes) AS "
    "u(code), UNNEST(scores) AS w(score) WHERE score > 0 GROUP BY patient)",
]

# Rows of one person that tie in `ward` are put in order by their lists.
TIES = [
    "SELECT LENGTH(code) AS k, COUNT(*) AS n FROM (SELECT patient, codes FROM visits QUALIFY "
    "ROW_NUMBER() OVER (PARTITION BY patient ORDER BY ward) = 1), UNNEST(codes) AS u(code) "
    "GROUP BY LENGTH(code)",
    "SELECT SUM(score) AS s, COUNT(*) AS n FROM (SELECT patient, scores FROM visits QUALIFY "
    "ROW_NUMBER() OVER (PARTITION BY patient ORDER BY ward) = 1), UNNEST(scores) AS u(score)",
    "SELECT SUM(day) AS s, COUNT(*) AS n FROM (SELECT patient, days FROM visits QUALIFY "
    "ROW_NUMBER() OVER (PARTITION BY patient ORDER BY ward) = 1), UNNEST(days) AS u(day)",
]


def odd_lists(count=60):
    """Rows with every odd list, each of its own person."""
    numbers = [None, 0.5, -0.0, float("nan"), float("inf"), 1e308, -3.25]
    whole = [None, 0, 2**63 - 1, -(2**63), 3]

    def around(values, i, step):
        if i % 7 in (0, 1):
            return [None, []][i % 7]
        return [values[(i + step * j) % len(values)] for j in range(i % 5 + 1500 * (i == 12))]

    return pa.table(
        {
            "patient": pa.array(range(count), pa.int64()),
            "ward": ["AB"[i % 2] for i in range(count)],
            "codes": pa.array([around(ODD, i, 3) for i in range(count)], pa.list_(pa.string())),
            "scores": pa.array(
                [around(numbers, i, 2) for i in range(count)], pa.list_(pa.float64())
            ),
            "days": pa.array([around(whole, i, 1) for i in range(count)], pa.list_(pa.int64())),
            "flags": pa.array(
                [around([True, None, False], i, 1) for i in range(count)], pa.list_(pa.bool_())
            ),
        }
    )


def tied_lists():
    """Every two odd lists in two rows of a person, in both orders."""
    odd = {
        "codes": [None, [], [None], ["a"], ["a", None], ["a", "b"], ["B"], ["é"], ["aa"], [""]],
        "scores": [None, [], [None], [0.0], [-0.0], [float("nan")], [1.0, None], [1.0, 2.0]],
        "days": [None, [], [None], [1], [1, None], [1, -2], [2], [2**63 - 1]],
        "flags": [None, [], [None], [True], [False], [False, None], [False, True]],
    }
    rows = []
    for person, (i, j) in enumerate((i, j) for i in range(10) for j in range(10)):
        for at in (i, j):
            own = {name: values[at % len(values)] for name, values in odd.items()}
            rows.append({"patient": person, "ward": "A", **own})
    return pa.Table.from_pylist(rows, schema=odd_lists(1).schema)


@contextlib.contextmanager
def over_duckdb(folder, tables):
    """DuckDB over the tables as Parquet files."""
    sources = {}
    for number, (name, table) in enumerate(tables.items()):
        sources[name] = str(folder / f"{name}{number}.parquet")
        pa.parquet.write_table(table, sources[name])
    with DuckDB.open(sources) as engine:
        yield engine


class ListsContract:
    """Inherit beside `EngineContract`, for an engine that has lists."""

    refused_cases: ClassVar[set[str]] = {"json"}  # before the charge
    sorts_lists: ClassVar[bool] = False  # else it refuses to

    def test_every_golden_query_of_lists_has_duckdbs_integers(self, tmp_path_factory):
        known = {"lists": lists.policy(), "lists_replace": lists.policy("replace")}
        plans = {}
        for path in LISTS:
            first, _, sql = path.read_text().splitlines()
            policy = known[first.removeprefix("-- policy: ")]
            plans[path.stem] = plan(parse(sql), policy, epsilon=0.5)
        folder = tmp_path_factory.mktemp("lists")
        with (
            self.opened(lists.SOURCES) as engine,
            over_duckdb(folder, lists.SOURCES) as reference,
        ):
            for name, schema in lists.SCHEMAS.items():
                assert list(engine.schema(name)) == list(schema)
            for name in self.refused_cases:
                with pytest.raises(Unsupported, match="Nothing was spent"):
                    engine.prepare(plans.pop(name))
            same(engine, reference, plans)

    def test_every_odd_list_has_duckdbs_integers(self, tmp_path_factory):
        tables = {"visits": odd_lists()}
        plans = {sql: plan(parse(sql), lists.policy(), epsilon=0.5) for sql in QUESTIONS}
        folder = tmp_path_factory.mktemp("odd")
        with self.opened(tables) as engine, over_duckdb(folder, tables) as reference:
            same(engine, reference, plans)

    def test_lists_put_rows_in_order_as_in_duckdb_or_not_at_all(self, tmp_path_factory):
        tables = {"visits": tied_lists()}
        plans = {sql: plan(parse(sql), lists.policy(), epsilon=0.5, delta=1e-3) for sql in TIES}
        folder = tmp_path_factory.mktemp("ties")
        with self.opened(tables) as engine, over_duckdb(folder, tables) as reference:
            if self.sorts_lists:
                same(engine, reference, plans)
                return
            for query_plan in plans.values():
                with pytest.raises(Unsupported, match="by their lists"):
                    engine.prepare(query_plan)
            ranked = {
                sql: plan(parse(sql), lists.policy(), epsilon=0.5, delta=1e-3)
                for sql in (question.replace("ROW_NUMBER()", "RANK()") for question in TIES)
            }
            same(engine, reference, ranked)
