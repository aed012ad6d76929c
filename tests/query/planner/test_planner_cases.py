"""Golden cases: SQL to plan, cost, margins and engine SQL; each run; both doors agree.

A case of several tables has its integers in a file, too, if no limit on one person's rows
chooses among them; `EngineContract` holds every engine to DuckDB's. A third line such as
`-- part: ward A` restricts the plan to a part of its table.

To accept a change on purpose, run with DENIABLE_GOLDEN=1 and read the difference.
"""

import os
from pathlib import Path

import pytest
import sqlglot

from deniable.query.language import builder
from deniable.query.language.parse import parse
from deniable.query.planner.explain import explain
from deniable.query.planner.planner import plan
from tests.engines.contract import CHOOSING, exact, restrict
from tests.query import lists, town
from tests.query.hospital import policy

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.sql"))
TOWN = sorted((Path(__file__).parents[1] / "cases" / "town").glob("*.sql"))  # several tables
LISTS = sorted((Path(__file__).parents[1] / "cases" / "lists").glob("*.sql"))
TOWN += LISTS
POLICIES = {
    "person": policy(),
    "row": policy(person=False),
    "replace": policy(neighbors="replace"),
    "town": town.policy(),
    "town_replace": town.policy("replace"),
    "lists": lists.policy(),
    "lists_replace": lists.policy("replace"),
}


def read(path: Path):
    first, second, *sql = path.read_text().splitlines()
    return first.removeprefix("-- policy: "), second.removeprefix("-- python: "), "\n".join(sql)


def make(path: Path):
    """The plan of a case."""
    which, _, sql = read(path)
    return restrict(plan(parse(sql), POLICIES[which], epsilon=0.5), POLICIES[which], sql)


def golden(query_plan) -> str:
    pretty = [
        sqlglot.parse_one(statement.sql, dialect="duckdb").sql("duckdb", pretty=True)
        for statement in query_plan.statements
    ]
    return "\n".join([f"{explain(query_plan)}\n", *pretty]) + "\n"


@pytest.mark.parametrize("path", CASES + TOWN, ids=lambda path: path.stem)
def test_the_plan_is_the_golden_one(path):
    text = golden(make(path))
    kept = path.with_suffix(".plan")
    if os.environ.get("DENIABLE_GOLDEN"):
        kept.write_text(text)
    assert text == kept.read_text()


@pytest.mark.parametrize("path", CASES + TOWN, ids=lambda path: path.stem)
def test_both_doors_make_the_same_plan(path):
    which, python, sql = read(path)
    names = vars(builder) | {"ask": builder.QuestionBuilder("visits")}
    built = eval(python, {"__builtins__": {}}, names)  # our own golden files
    both = [plan(question, POLICIES[which], epsilon=0.5) for question in (parse(sql), built)]
    assert both[0] == both[1]


@pytest.mark.parametrize("path", CASES + TOWN, ids=lambda path: path.stem)
def test_the_engine_answers_with_every_feature(path, engines):
    query_plan = make(path)
    result = engines[read(path)[0]].run(query_plan).reveal_to(lambda integers: integers)
    assert set(result.features) == set(query_plan.features)
    if query_plan.engine_sql:
        assert len(result.keys) == len(query_plan.keys)
        sizes = {len(column) for column in (*result.keys, *result.features.values())}
        assert len(sizes) == 1
    counted = [each.name for each in query_plan.statements if each.kind == "cells"]
    assert list(result.cells) == counted
    for cells in result.cells.values():
        assert len(cells.keys) == len(query_plan.keys)
        assert {len(column) for column in (*cells.keys, cells.count)} == {cells.cell.size}
        assert cells.cell.dtype == cells.count.dtype == "int64"


@pytest.mark.parametrize(
    "path", [path for path in TOWN if path.stem not in CHOOSING], ids=lambda path: path.stem
)
def test_the_integers_are_the_golden_ones(path, engines):
    groups, cells = exact(engines[read(path)[0]].run(make(path)))
    text = "\n".join(
        [*map(str, groups), *(f"{name}: {column}" for name, column in cells.items())]
    )
    kept = path.with_suffix(".integers")
    if os.environ.get("DENIABLE_GOLDEN"):
        kept.write_text(f"{text}\n")
    assert f"{text}\n" == kept.read_text()
