"""Golden cases: SQL to plan, cost, margins and engine SQL; each run; both doors agree.

To accept a change on purpose, run with DENIABLE_GOLDEN=1 and read the difference.
"""

import os
from pathlib import Path

import pytest
import sqlglot

from deniable.engines.duckdb.engine import DuckDB
from deniable.query.language import builder
from deniable.query.language.parse import parse
from deniable.query.planner.explain import explain
from deniable.query.planner.planner import plan
from tests.query import town
from tests.query.hospital import policy, visits

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.sql"))
TOWN = sorted((Path(__file__).parents[1] / "cases" / "town").glob("*.sql"))  # several tables
POLICIES = {
    "person": policy(),
    "row": policy(person=False),
    "replace": policy(neighbors="replace"),
    "town": town.policy(),
    "town_replace": town.policy("replace"),
}


def read(path: Path):
    first, second, *sql = path.read_text().splitlines()
    return first.removeprefix("-- policy: "), second.removeprefix("-- python: "), "\n".join(sql)


def golden(made) -> str:
    pretty = [
        sqlglot.parse_one(one.sql, dialect="duckdb").sql("duckdb", pretty=True)
        for one in made.statements
    ]
    return "\n".join([f"{explain(made)}\n", *pretty]) + "\n"


@pytest.fixture(scope="module")
def engines():
    with DuckDB.open({"visits": visits()}) as one, DuckDB.open(town.SOURCES) as several:
        yield {name: several if name.startswith("town") else one for name in POLICIES}


@pytest.mark.parametrize("path", CASES + TOWN, ids=lambda path: path.stem)
def test_the_plan_is_the_golden_one(path):
    which, _, sql = read(path)
    made = golden(plan(parse(sql), POLICIES[which], epsilon=0.5))
    kept = path.with_suffix(".plan")
    if os.environ.get("DENIABLE_GOLDEN"):
        kept.write_text(made)
    assert made == kept.read_text()


@pytest.mark.parametrize("path", CASES + TOWN, ids=lambda path: path.stem)
def test_both_doors_make_the_same_plan(path):
    which, python, sql = read(path)
    names = vars(builder) | {"ask": builder.QuestionBuilder("visits")}
    built = eval(python, {"__builtins__": {}}, names)  # our own golden files
    both = [plan(one, POLICIES[which], epsilon=0.5) for one in (parse(sql), built)]
    assert both[0] == both[1]


@pytest.mark.parametrize("path", CASES + TOWN, ids=lambda path: path.stem)
def test_the_engine_answers_with_every_feature(path, engines):
    which, _, sql = read(path)
    made = plan(parse(sql), POLICIES[which], epsilon=0.5)
    found = engines[which].run(made).reveal_to(lambda integers: integers)
    assert set(found.features) == set(made.features)
    if made.engine_sql:
        assert len(found.keys) == len(made.keys)
        sizes = {len(one) for one in (*found.keys, *found.features.values())}
        assert len(sizes) == 1
    counted = [one.name for one in made.statements if one.kind == "cells"]
    assert list(found.cells) == counted
    for cells in found.cells.values():
        assert len(cells.keys) == len(made.keys)
        assert {len(one) for one in (*cells.keys, cells.count)} == {cells.cell.size}
        assert cells.cell.dtype == cells.count.dtype == "int64"
