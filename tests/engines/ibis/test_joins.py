"""Joins and sub-queries about one person through Ibis: DuckDB's integers on odd rows."""

import pytest

from deniable.errors import Unsupported
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines import ibises
from tests.engines.contract import hostile, hostile_policy

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

JOIN = "FROM odd AS a {} JOIN odd AS b ON a.id = b.id"
JOINS = [
    f"SELECT COUNT(*) {JOIN.format('')} AND a.real < b.real",
    f"SELECT COUNT(*) {JOIN.format('LEFT')} AND b.flag",
    f"SELECT COUNT(*) {JOIN.format('RIGHT')} AND a.flag AND b.word = 'A'",
    f"SELECT SUM(a.real) {JOIN.format('FULL')} AND a.flag AND b.word = 'A'",
]
UNEQUAL = f"SELECT COUNT(*) {JOIN.format('LEFT')} AND a.real < b.real"
PERSONS = [
    "SELECT AVG(t) FROM (SELECT id, SUM(real) AS t, MIN(real) AS lo, MAX(1 / real) AS hi, "
    "COUNT(DISTINCT word) AS w FROM odd GROUP BY id) WHERE hi > 3 OR w > 2",
    "SELECT SUM(t) FROM (SELECT id, VARIANCE(real) AS t, STDDEV(whole) AS s FROM odd "
    "GROUP BY id) WHERE s < 900",
    "SELECT COUNT(*) FROM (SELECT id, MAX(word) AS m, MIN(day) AS d FROM odd GROUP BY id) "
    "WHERE m > 'a' AND d < '2020-01-01'",
    "SELECT word, COUNT(*) FROM odd WHERE real > (SELECT AVG(real) FROM odd AS o "
    "WHERE o.id = odd.id) GROUP BY word",
]


def policy():
    return hostile_policy(unit="id", max_groups_per_unit=50, max_rows_per_unit_per_group=50)


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_joins_are_duckdbs(backend):
    ibises.same(backend, JOINS, policy())


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_what_is_said_about_one_person_is_duckdbs(backend):
    ibises.same(backend, PERSONS, policy())


def test_polars_refuses_rows_without_a_partner_by_what_is_not_equal():
    ibises.same("duckdb", [UNEQUAL], policy())
    refused = pytest.raises(Unsupported, match="DuckDB's JOIN exactly")
    with ibises.over_polars({"odd": hostile()}) as engine, refused:
        engine.check(plan(parse(UNEQUAL), policy(), epsilon=50))
