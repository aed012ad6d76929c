"""SQLite's SQL: sums, numbered rows, flat sub-queries."""

import pyarrow as pa

from deniable.engines.dialect.statement_writer import StatementWriter
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.ibis.sqlite_writer import SQLITE
from tests.engines import ibises
from tests.engines.contract import exact
from tests.engines.plans import plan as by_hand


def test_a_sum_does_not_overflow():
    with ibises.over_sqlite({"t": pa.table({"x": [2**63 - 1] * 3 + [-1, None]})}) as engine:
        for sql in ("SUM(x)", "SUM(x) * 2 - SUM(x)", "SUM(CAST(x AS INT128) * 3) // 3"):
            plan = by_hand(f"SELECT {sql} AS n FROM t")
            assert exact(engine.run(plan))[0] == [(3 * (2**63 - 1) - 1,)]


def test_rows_of_different_tables_are_different_units():
    numbered = 'AS MATERIALIZED (SELECT ROW_NUMBER() OVER () * 2 + {} AS u, * FROM "{}")'
    sql = f'WITH "a" {numbered.format(0, "t")}, "b" {numbered.format(1, "s")} SELECT '
    sql += 'COUNT(DISTINCT u) AS n FROM (SELECT u FROM "a" UNION ALL SELECT u FROM "b")'
    rows = pa.table({"x": [1, 1]})
    with ibises.over_sqlite({"t": rows, "s": rows}) as engine:
        assert exact(engine.run(by_hand(sql)))[0] == [(4,)]


def test_sub_queries_stand_side_by_side_and_are_computed_once():
    writer = StatementWriter(SQLITE, {"t": WrittenRelation('"t"', {"x": "double"})})
    sql = "SELECT y * y AS y FROM ("
    deep = sql * 30 + 'SELECT "x" AS y FROM "t"' + ") AS s" * 30
    written = writer.write(deep).sql
    assert written.count(" AS MATERIALIZED (") == 29
    assert len(written) < 3_000
    rows = pa.table({"x": [1.0, 0.5]})
    with ibises.over_sqlite({"t": rows}) as engine:
        counted = by_hand(f"SELECT COUNT(*) AS n FROM ({deep}) AS d WHERE y = 1")
        assert exact(engine.run(counted))[0] == [(1,)]


def test_numbers_of_different_kinds_are_compared_as_duckdb_does():
    """An integer and a double as doubles; an integer and a wide one as wide ones."""
    table = {"t": pa.table({"x": [2**53 + 1, 7, -7, 2**63 - 1, None]})}
    double, wide = "CAST(9007199254740992 AS DOUBLE)", "CAST(7 AS INT128)"
    conditions = [f"x {sign} {other}" for sign in ("=", "<", ">=") for other in (double, wide)]
    conditions += [f"x IN ({double}, 5)", f"x BETWEEN {wide} AND {double}"]
    conditions += [f"CASE x WHEN {double} THEN TRUE WHEN {wide} THEN TRUE END"]
    with ibises.over_sqlite(table) as engine, DuckDB.open(table) as known:
        for condition in conditions:
            plan = by_hand(f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
            assert (condition, exact(engine.run(plan))) == (condition, exact(known.run(plan)))
