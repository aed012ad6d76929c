"""Plans about a part of a table: every scan is restricted to the units of the part."""

from dataclasses import replace

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.derivation import Derivation
from deniable.kernel.facts import Facts, TableFacts
from deniable.kernel.reading import read_statement
from deniable.kernel.sources import PartRule
from deniable.kernel.verdict import check_plan
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.query.statements.partition import restrict_to_part
from tests.kernel.declared import facts_of
from tests.kernel.harm import QUESTIONS
from tests.kernel.test_derivation import FACTS, POLICY, changed, made_for

WARD = 'TRY_CAST("ward" AS TEXT)'
HAVING = f"HAVING MIN({WARD}) = 'A'"
UNITS = f' AND "unit" IN (SELECT "unit" FROM "data" GROUP BY "unit" {HAVING})'


def part_of(question, table, *part):
    assert question in QUESTIONS
    return restrict_to_part(made_for(question), POLICY.tables[table], part)


@pytest.mark.parametrize(
    ("question", "table", "part"),
    [
        ("mean", "data", [("ward", "A")]),
        ("count", "data", [("x", 5), ("flag", True)]),
        ("median", "data", [("said", 4.5)]),
        ("rows", "single", [("y", -2.5)]),
        ("rows united", "single", [("ward", "A")]),
    ],
)
def test_a_part_is_accepted_and_its_readings_are_told(question, table, part):
    verdict = check_plan(part_of(question, table, *part), FACTS)
    assert [column for column, _ in verdict.readings] == [column for column, _ in part]
    whole = check_plan(made_for(question), FACTS)
    assert [reading.l1 for reading in verdict.parts] == [reading.l1 for reading in whole.parts]
    assert whole.readings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (UNITS, ""),
        (f"{WARD} = 'A' AND", "TRUE AND"),
        (HAVING, HAVING.replace("'A'", "'B'")),
        (HAVING, HAVING.replace("MIN", "MAX")),
        (HAVING, HAVING.replace("ward", "code")),
        (HAVING, HAVING.replace(WARD, f"LEFT({WARD}, 1)")),
        (HAVING, f"{HAVING} OR TRUE"),
        (f" {HAVING}", ""),
        (f'FROM "data" GROUP BY "unit" {HAVING}', f'FROM "more" GROUP BY "unit" {HAVING}'),
        (f'GROUP BY "unit" {HAVING}', f'GROUP BY "ward" {HAVING}'),
        (f'FROM (SELECT * FROM "data" WHERE {WARD} = \'A\'{UNITS}) AS "data"', 'FROM "data"'),
        (f"WHERE {WARD} = 'A'{UNITS}", f"WHERE ({WARD} = 'A'{UNITS} OR TRUE)"),
    ],
)
def test_a_scan_outside_of_the_part_is_refused(old, new):
    with pytest.raises(PlanRefused) as refusal:
        check_plan(changed(part_of("mean", "data", ("ward", "A")), old, new), FACTS)
    assert "canonical" not in str(refusal.value)


def test_a_part_of_one_table_beside_another_is_refused():
    with pytest.raises(PlanRefused):
        check_plan(part_of("private join", "data", ("ward", "A")), FACTS)


def test_a_join_of_scans_is_no_way_around_the_part():
    table = FACTS.find("data")
    sql = 'SELECT a."unit" AS u FROM "data" AS a JOIN "data" AS b ON a."unit" = b."unit"'
    assert Derivation(FACTS).relation(read_statement(sql), {}).units == {"u"}
    with pytest.raises(PlanRefused):
        Derivation(FACTS, part=PartRule(table, (("ward", "A"),))).relation(
            read_statement(sql), {}
        )


def test_a_row_number_is_made_of_whole_numbers():
    """With '-1' for the place of one table its numbers would be those of the other."""
    tables = [Table.declare(name).with_schema({"x": "BIGINT"}) for name in "ab"]
    policy = Policy(tables, epsilon=5)
    both = "(SELECT x FROM a UNION ALL SELECT x FROM b) AS t"
    honest = plan(parse(f"SELECT COUNT(DISTINCT x) AS n FROM {both}"), policy, epsilon=1)
    assert check_plan(honest, facts_of(policy)).parts
    with pytest.raises(PlanRefused, match="row numbers"):
        check_plan(changed(honest, "* 2 + 0", "* 2 + '-1'"), facts_of(policy))


@pytest.mark.parametrize(
    ("side", "left_known", "right_known", "units", "known"),
    [
        ("", False, False, {"a\0u", "b\0u"}, True),
        ("LEFT ", True, False, {"a\0u"}, True),
        ("LEFT ", False, True, {"a\0u"}, False),
        ("RIGHT ", False, True, {"b\0u"}, True),
        ("RIGHT ", True, False, {"b\0u"}, False),
        ("FULL ", True, True, set(), True),
        ("FULL ", True, False, set(), False),
        ("FULL ", False, True, set(), False),
    ],
)
def test_which_units_of_a_join_are_known(side, left_known, right_known, units, known):
    """Rows that stay without a partner have the unit of their own side, or none."""

    def part(known):
        condition = ' WHERE NOT "unit" IS NULL' if known else ""
        return f'(SELECT "unit" AS u FROM "data"{condition})'

    both = f"{part(left_known)} AS a {side}JOIN {part(right_known)} AS b"
    node = read_statement(f"SELECT 1 AS one FROM {both} ON a.u = b.u")
    joined = Derivation(FACTS).filtered(node, {})
    assert (joined.units, joined.known) == (units, known)
    assert (joined.either is None) == (side != "FULL ")


def test_a_unit_that_is_cast_in_a_full_join_may_be_null():
    """Wide units that do not fit would be one unit: NULL."""
    wide = TableFacts("wide", {"unit": "wide"}, unit="unit")
    part = '(SELECT "unit" AS u FROM "wide" WHERE NOT "unit" IS NULL)'
    cast = [f"TRY_CAST({side}.u AS INT128)" for side in "ab"]
    for unit, known in ((f"COALESCE({', '.join(cast)})", False), ("COALESCE(a.u, b.u)", True)):
        both = f"{part} AS a FULL JOIN {part} AS b ON {' = '.join(cast)}"
        node = read_statement(f"SELECT {unit} AS u FROM {both}")
        relation = Derivation(Facts((wide,))).relation(node, {})
        assert (relation.units, relation.known) == ({"u"}, known)


def test_a_table_that_protects_by_another_relation_is_refused():
    """All tables that a plan reads must have its relation between neighbours."""
    planned = made_for("private join")
    assert check_plan(planned, FACTS).parts
    assert planned.beside
    for name in planned.tables:
        tables = [
            replace(table, neighbors="replace") if table.name == name else table
            for table in FACTS.tables
        ]
        with pytest.raises(PlanRefused, match="private as it says"):
            check_plan(planned, Facts(tuple(tables)))
        fewer = replace(planned, table="more" if name == "data" else "data", beside=())
        with pytest.raises(PlanRefused, match="not charged"):
            check_plan(fewer, Facts(tuple(tables)))
