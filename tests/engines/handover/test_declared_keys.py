"""Declared keys: a relation beside the statement, or listed in it, with the same groups."""

import math
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.plan.key_list import MOST_WRITTEN
from deniable.query.planner.planner import plan
from tests.engines.contract import MANY_KEYS, exact, hostile, many_keys


@pytest.mark.parametrize("most", [5, 10**6], ids=["by group", "by row"])
@pytest.mark.parametrize("name", ["word", "whole", "real", "day"])
def test_the_groups_are_those_of_the_rows(name, most, monkeypatch):
    """Counted here, from the rows themselves."""
    monkeypatch.setattr("deniable.query.statements.input_rows.MOST_JOINED", most)
    plans = dict(many_keys())
    with DuckDB({"odd": hostile()}) as engine:
        groups, _ = exact(engine.run(plans[f"{name} False"]))
        again, _ = exact(engine.run(plans[f"{name} False"]))
    rows = hostile().to_pydict()
    values = [row.isoformat() if name == "day" and row else row for row in rows[name]]
    if name == "whole":
        values = [
            None if number is None else max(-1000, min(1000, number)) for number in values
        ]
    keys = MANY_KEYS[name]
    if name == "real":  # in steps of 0.5; NaN is the greatest number
        clipped = [None if number is None else max(-10, min(100, number)) for number in values]
        values = [
            None if number is None else math.floor(number * 2 + 0.5) for number in clipped
        ]
        keys = [number * 2 for number in keys]
    words = rows["word"] if name == "day" else [None] * len(values)
    counted = Counter(
        (value, word)
        for value, word in zip(values, words, strict=True)
        if value in keys and (name != "day" or word in MANY_KEYS["word"])
    )
    actual = {(row[0], row[1] if name == "day" else None): row[-1] for row in groups}
    assert actual == counted
    assert groups == again


def test_where_a_unit_is_limited_its_keys_are_looked_up_by_row(monkeypatch):
    """Otherwise groups that nobody sees would take the place of others."""
    monkeypatch.setattr("deniable.query.statements.input_rows.MOST_JOINED", 5)
    keys = tuple(f"w{i}" for i in range(200))
    rows = {"id": ["p"] * 300, "w": [f"{'w' if i == 7 else 'x'}{i}" for i in range(300)]}
    table = Table.declare("t", unit="id", keys={"w": keys})
    table = table.with_schema({"id": "VARCHAR", "w": "VARCHAR"})
    query_plan = plan(
        parse("SELECT w, COUNT(*) AS n FROM t GROUP BY w"),
        Policy([table], epsilon=1),
        epsilon=1,
    )
    for _ in range(3):  # each with a salt of its own
        with DuckDB({"t": pa.table(rows)}) as engine:
            assert exact(engine.run(query_plan))[0] == [("w7", 1)]


def test_few_keys_and_ranges_stay_in_the_statement():
    few = tuple(f"w{i}" for i in range(MOST_WRITTEN))
    for keys, beside in ((few, False), ((*few, "one more"), True), (range(10**5), False)):
        table = Table.declare("t", keys={"k": keys})
        table = table.with_schema({"k": "BIGINT" if isinstance(keys, range) else "VARCHAR"})
        query_plan = plan(
            parse("SELECT k, COUNT(*) FROM t GROUP BY k"), Policy([table], epsilon=1), epsilon=1
        )
        assert ("(keys 0)" in query_plan.engine_sql) == beside
        assert len(query_plan.engine_sql) < 3_000


def test_the_keys_are_gone_after_the_answer_and_after_a_failure():
    query_plan = dict(many_keys())["word False"]
    seen = "SELECT count(*) FROM duckdb_views() WHERE view_name LIKE '(keys%'"
    with DuckDB({"odd": hostile()}) as engine:
        for broken in (False, True):
            told = pytest.raises(EngineFailed) if broken else nullcontext()
            with told:
                engine.run(
                    replace(query_plan, engine_sql="SELECT no") if broken else query_plan
                )
            assert engine._connect().execute(seen).fetchone() == (0,)


def test_no_table_has_the_name_of_the_keys():
    with pytest.raises(InvalidPolicy, match="bracket"):
        Table("(keys 0)")
