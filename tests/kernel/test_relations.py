"""How many rows and groups one unit has, after projections, joins and unions."""

from dataclasses import replace

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.relations import Owner, Relation, join_units, unite
from deniable.kernel.values import BOOL, Limit, Value
from deniable.kernel.verdict import check_plan
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.kernel.declared import facts_of

PERSON = Owner("patient", "integer")
INNER, LEFT, FULL = (False, False), (True, False), (True, True)  # which sides stay
TEXT, FLAG = Value("text"), BOOL._replace(null=False)


def relation(*limits, columns=("k", "v"), owner=PERSON, **kinds):
    values = {name: kinds.get(name, TEXT) for name in ("u", *columns)}
    return Relation(values, owner, 1000, frozenset("u"), True, tuple(limits))


def rows(most, *columns):
    return Limit("rows", frozenset(columns), most)


def groups(most, *columns):
    return Limit("groups", frozenset(columns), most)


@pytest.mark.parametrize(
    ("limits", "by_rows", "by_groups"),
    [
        ([], None, None),
        ([rows(3, "k")], 3, None),
        ([rows(3, "k", "v")], None, None),
        ([rows(5)], 5, 5),
        ([rows(3, "k"), groups(2, "k")], 3, 2),
        ([rows(3, "v"), groups(2, "v")], 6, None),
        ([groups(4, "k", "v")], None, 4),
    ],
)
def test_rows_and_groups_of_a_unit(limits, by_rows, by_groups):
    limited = relation(*limits)
    assert limited.rows_per_group(["k"]) == by_rows
    assert limited.groups_per_unit(["k"]) == by_groups


def test_few_values_limit_the_groups():
    assert relation(k=FLAG).groups_per_unit(["k"]) == 2
    assert relation(k=FLAG._replace(null=True)).groups_per_unit(["k"]) == 3
    assert relation(k=Value("text", different=5), v=FLAG).groups_per_unit(["k", "v"]) == 10
    assert relation().groups_per_unit(["u"]) == 1
    assert relation(rows(3, "k"), k=FLAG).groups_per_unit(["v"]) == 6


def test_a_dropped_column_multiplies_a_limit_on_rows_and_keeps_one_on_groups():
    limited = relation(rows(3, "k"), groups(2, "k"), rows(7, "v"))
    assert set(limited.carried({"v": "w"})) == {rows(6), groups(2), rows(7, "w")}
    assert set(relation(rows(3, "k")).carried({"v": "v"})) == set()


def test_a_join_on_the_unit_multiplies_rows():
    left, right = relation(rows(3, "k"), columns="k"), relation(rows(2, "v"), columns="v")
    assert join_units(left, right, INNER) == (rows(6, "k", "v"),)
    none = right._replace(limits=(rows(0, "v"),))
    assert join_units(left, none, LEFT) == (rows(3, "k", "v"),)
    assert join_units(left, right, FULL) == (rows(12, "k", "v"),)
    grouped = right._replace(limits=(groups(2, "v"),))
    assert join_units(left, grouped, INNER) == (groups(2, "v"),)
    assert join_units(left, grouped, LEFT) == (groups(3, "v"),)


def test_union_all_adds_limits_that_all_parts_have():
    first, second = relation(rows(3, "k"), rows(9)), relation(rows(2, "k"), groups(2, "k"))
    assert unite([first, second]).limits == (rows(5, "k"),)
    assert unite([first, second]).rows == 2000
    assert not unite([first, second._replace(known=False)]).known
    wide = relation(k=Value("int", 0, 9, 32)), relation(k=Value("int", -5, 3, 32))
    assert (unite(list(wide)).columns["k"].low, unite(list(wide)).columns["k"].high) == (-5, 9)


@pytest.mark.parametrize(
    "other",
    [
        relation(owner=None),
        relation(owner=PERSON._replace(unit="nurse")),
        relation(owner=PERSON._replace(kind="text")),
        relation(columns=("v", "k")),
        relation()._replace(units=frozenset("k")),
    ],
)
def test_union_all_of_rows_that_do_not_match_is_refused(other):
    with pytest.raises(PlanRefused):
        unite([relation(), other])


@pytest.mark.parametrize(
    ("first", "second", "fine"),
    [
        ([("a", 1, 0)], [("a", 1, 0)], True),
        ([("a", 2, 0)], [("b", 2, 1)], True),
        ([("a", 2, 0)], [("b", 2, 0)], False),
        ([("a", 2, 0)], [("b", 3, 1)], False),
        ([("a", 1, 0)], [("b", 1, 0)], False),
        ([], [], False),
        ([("a", 1, 0)], [], False),
    ],
)
def test_row_numbers_meet_only_if_they_cannot_be_confused(first, second, fine):
    owners = [Owner(None, "", frozenset(columns)) for columns in (first, second)]
    if fine:
        assert owners[0].united(owners[1]).numbers == {*first, *second}
    else:
        with pytest.raises(PlanRefused):
            owners[0].united(owners[1])


def _counted(rows):
    """A plan that counts these rows of two tables, and what is known of the tables."""
    tables = [
        Table.declare(name, unit="u", max_rows_per_unit_per_group=1).with_schema(
            {"u": "BIGINT", "x": "BIGINT"}
        )
        for name in "ab"
    ]
    policy = Policy(tables, epsilon=5)
    honest = plan(parse("SELECT COUNT(*) AS n FROM a JOIN b ON a.u = b.u"), policy, epsilon=1)
    sql = f"SELECT COUNT(*) AS {honest.blocks[0].features[0]} FROM "
    return replace(honest, engine_sql=sql + rows), facts_of(policy)


def _limited(table, most, window="ROW_NUMBER() OVER (PARTITION BY u ORDER BY x)"):
    rows = f'SELECT "u" AS u, "x" AS x FROM "{table}" WHERE NOT "u" IS NULL'
    if window.startswith("DENSE"):
        rows = f"SELECT u, x FROM ({rows}) AS s GROUP BY u, x"
    numbered = f"SELECT *, {window} AS j FROM ({rows}) AS r"
    return f"(SELECT * FROM ({numbered}) AS w WHERE j <= {most})"


def test_rows_without_a_partner_count_even_if_the_other_side_has_none():
    both = f"{_limited('a', 0)} AS l RIGHT JOIN {_limited('b', 100)} AS r ON l.u = r.u"
    planned, facts = _counted(f"(SELECT r.u AS u FROM {both}) AS z")
    with pytest.raises(PlanRefused, match=r"moves .* by 100"):
        check_plan(planned, facts)


@pytest.mark.parametrize("most", [0, -100])
def test_a_limit_below_nothing_takes_nothing_from_others(most):
    ranked = "DENSE_RANK() OVER (PARTITION BY u ORDER BY x)"
    parts = [
        f"SELECT u AS u, x AS x FROM {_limited(table, limit, ranked)} AS y"
        for table, limit in (("a", most), ("b", 100))
    ]
    planned, facts = _counted(f"({parts[0]} UNION ALL {parts[1]}) AS z")
    with pytest.raises(PlanRefused, match=r"moves .* by 100"):
        check_plan(planned, facts)
