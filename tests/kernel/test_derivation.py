"""Statements with one hostile change: the rules refuse whatever breaks their proofs."""

from dataclasses import replace
from functools import cache

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.derivation import Derivation
from deniable.kernel.reading import read_statement
from deniable.kernel.verdict import check_plan
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.kernel import harm
from tests.kernel.declared import facts_of

POLICY = harm.policy("add-remove")
FACTS = facts_of(POLICY)
HASHED = "HASH(u, k0, $salt), k0"
CLIPPED = "CASE WHEN x0 > 200 THEN 200 WHEN x0 < 0 THEN 0 ELSE x0 END"
NUMBERED = 'WITH "numbered single" AS MATERIALIZED (SELECT ROW_NUMBER() OVER () AS "u", * FROM '

# What is changed, in which question, and how its statement changes.
HOSTILE = {
    "a comment": ("count", "GROUP BY u", "GROUP BY u /* x */"),
    "a spelling of its own": ("count", "GROUP BY u", "group by u"),
    "two statements": ("count", "AS bounded", "AS bounded; SELECT 1"),
    "letters outside of ASCII": ("count", "AS held", "AS h\u00e9ld"),
    "an unknown table": ("count", 'FROM "data"', 'FROM "other"'),
    "a file": ("count", 'FROM "data"', "FROM '/etc/passwd'"),
    "a public table": ("count", 'FROM "data"', 'FROM "regions"'),
    "another private table": ("count", 'FROM "data"', 'FROM "more"'),
    "renamed columns": ("count", 'FROM "data"', 'FROM "data" AS t(flag, unit)'),
    "a sample": ("count", 'FROM "data"', 'FROM "data" TABLESAMPLE BERNOULLI (10 PERCENT)'),
    "the first rows": ("count", "AS bounded", "AS bounded LIMIT 1"),
    "the first rows inside": ("count", "GROUP BY u)", "GROUP BY u LIMIT 1)"),
    "a clip too wide": ("mean", CLIPPED, CLIPPED.replace("200", "201")),
    "a clip with another end": ("mean", "THEN 200 WHEN", "THEN 201 WHEN"),
    "no lower clip": (
        "mean",
        ' WHEN TRY_CAST("x" AS DOUBLE) < CAST(0 AS DOUBLE) THEN CAST(0 AS DOUBLE)',
        "",
    ),
    "no clip before a cast": ("mean", "c3 AS y0", "c3 * c3 * c3 * c3 * c3 AS y0"),
    "a clip of something else": ("mean", "ELSE x0 END AS x0", "ELSE x0 + 1 END AS x0"),
    "units that are not known": ("mean", ' WHERE NOT "unit" IS NULL', ""),
    "units with NULL": ("mean", 'NOT "unit" IS NULL', '"unit" IS NULL'),
    "units cast to less": ("mean", '"unit" AS u', 'TRY_CAST("unit" AS BOOLEAN) AS u'),
    "units cast to doubles": ("mean", '"unit" AS u', 'TRY_CAST("unit" AS DOUBLE) AS u'),
    "units as text": ("mean", '"unit" AS u', 'TRY_CAST("unit" AS TEXT) AS u'),
    "another column for the unit": ("mean", '"unit" AS u', '"flag" AS u'),
    "a keyword for the unit": (
        "mean",
        "SELECT u, k0, CASE WHEN x0",
        "SELECT user AS u, k0, CASE WHEN x0",
    ),
    "a pseudo-column for the unit": (
        "count",
        'SELECT u FROM (SELECT "unit" AS u FROM "data"',
        'SELECT rowid AS u FROM (SELECT "unit" AS rowid FROM "data"',
    ),
    "a bound that may be NULL": (
        "mean",
        "> CAST(100 AS DOUBLE) THEN",
        "> NULLIF(CAST(100 AS DOUBLE), 0) THEN",
    ),
    "a constant for the unit": ("mean", '"unit" AS u', "1 AS u"),
    "groups without the unit": ("mean", "GROUP BY u, k0)", "GROUP BY k0)"),
    "groups by position": ("mean", "GROUP BY u, k0)", "GROUP BY 1, 2)"),
    "groups by more than the keys": (
        "mean",
        "AS bounded GROUP BY k0",
        "AS bounded GROUP BY k0, f0_0",
    ),
    "groups by less than the keys": ("mean", "AS bounded GROUP BY k0", "AS bounded"),
    "no limit on groups": ("mean", " WHERE place <= 2", ""),
    "a higher limit on groups": ("mean", "place <= 2", "place <= 3"),
    "units that are not known, and not ranked": ("count", ' WHERE NOT "unit" IS NULL', ""),
    "a window over all units of a group": (
        "median",
        "PARTITION BY u, k0 ORDER BY HASH",
        "PARTITION BY k0 ORDER BY HASH",
    ),
    "a share by the number of values": (
        "mean",
        "CASE WHEN c > 3 THEN CAST(t0 AS INT128) * 3 // c ELSE t0 END",
        "CASE WHEN n0 > 3 THEN CAST(t0 AS INT128) * 3 // n0 ELSE t0 END",
    ),
    "a share of few rows that is larger": (
        "mean",
        "CAST(t0 AS INT128) * 3 // c ELSE t0 END",
        "CAST(t0 AS INT128) * 3 // c ELSE t0 * 9 END",
    ),
    "a share that grows with the rows": (
        "count",
        "c > 3 THEN CAST(c AS INT128) * 3 // c",
        "c > (c + 1) THEN CAST(c AS INT128) * (c + 1) // c",
    ),
    "groups by the place": ("mean", "AS bounded GROUP BY k0", "AS bounded GROUP BY k0, place"),
    "a limit by itself": ("mean", "place <= 2", "place <= place"),
    "a limit the other way": ("mean", "place <= 2", "place >= 2"),
    "a limit in OR": ("mean", "WHERE place <= 2", "WHERE (place <= 2 OR TRUE)"),
    "a window over all units": ("mean", "PARTITION BY u ORDER", "PARTITION BY k0 ORDER"),
    "a window over too little": ("mean", "PARTITION BY u ORDER", "PARTITION BY u, k0 ORDER"),
    "ties": ("mean", f"ORDER BY {HASHED}", "ORDER BY HASH(u, $salt)"),
    "no order": ("mean", f" ORDER BY {HASHED}", ""),
    "a random order": ("mean", f"ORDER BY {HASHED}", "ORDER BY RANDOM(), k0"),
    "a hash without the salt": ("mean", "HASH(u, k0, $salt)", "HASH(u, k0)"),
    "the salt as a value": ("mean", "COUNT(*) AS c", "COUNT(*) + $salt AS c"),
    "RANK for ROW_NUMBER": ("mean", "ROW_NUMBER()", "RANK()"),
    "a frame": (
        "mean",
        f"ORDER BY {HASHED})",
        f"ORDER BY {HASHED} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    ),
    "limited names that are swapped": (
        "median",
        "SELECT *, ROW_NUMBER()",
        "SELECT u, v AS k0, k0 AS v, j, ROW_NUMBER()",
    ),
    "no share": ("count", "CASE WHEN c > 3 THEN CAST(c AS INT128) * 3 // c ELSE c END", "c"),
    "a share of more rows": (
        "count",
        "c > 3 THEN CAST(c AS INT128) * 3",
        "c > 4 THEN CAST(c AS INT128) * 4",
    ),
    "a share that begins late": ("count", "c > 3 THEN", "c > 4 THEN"),
    "a share by a column": (
        "count",
        "c > 3 THEN CAST(c AS INT128) * 3",
        "c > c THEN CAST(c AS INT128) * c",
    ),
    "a share of another sum": (
        "mean",
        "THEN CAST(t0 AS INT128) * 3 // c ELSE t0",
        "THEN CAST(n0 AS INT128) * 3 // c ELSE t0",
    ),
    "a share by another count": (
        "mean",
        "CAST(t0 AS INT128) * 3 // c ELSE",
        "CAST(t0 AS INT128) * 3 // n0 ELSE",
    ),
    "a division by zero": ("count", "WHEN c > 3 THEN", "WHEN c > -1 THEN"),
    "another factor": (
        "mean",
        "CAST(200 AS INT128) * CAST(n0 AS INT128)",
        "CAST(201 AS INT128) * CAST(n0 AS INT128)",
    ),
    "another sign": ("mean", "CAST((-1) AS INT128) * CAST(t0", "CAST(1 AS INT128) * CAST(t0"),
    "features in another order": (
        "mean",
        "COALESCE(SUM(f0_0), 0) AS f0_0, COALESCE(SUM(f0_1), 0) AS f0_1",
        "COALESCE(SUM(f0_1), 0) AS f0_1, COALESCE(SUM(f0_0), 0) AS f0_0",
    ),
    "a feature under another name": (
        "mean",
        "COALESCE(SUM(f0_0), 0) AS f0_0",
        "COALESCE(SUM(f0_0), 0) AS f9_9",
    ),
    "the same name twice": (
        "mean",
        "AS f0_1, COALESCE(SUM(f0_2), 0) AS f0_2",
        "AS f0_1, 0 AS f0_1",
    ),
    "an empty sum that is not zero": (
        "mean",
        "COALESCE(SUM(f0_0), 0) AS f0_0",
        "COALESCE(SUM(f0_0), 9) AS f0_0",
    ),
    "a product of sums": (
        "mean",
        "COALESCE(SUM(f0_0), 0) AS f0_0",
        "COUNT(*) * COUNT(*) AS f0_0",
    ),
    "a largest value": ("mean", "COALESCE(SUM(f0_0), 0) AS f0_0", "MAX(f0_0) AS f0_0"),
    "a filter of an aggregate": ("count", "COUNT(*) AS c", "COUNT(*) FILTER(WHERE TRUE) AS c"),
    "HAVING over all units": (
        "mean",
        "AS bounded GROUP BY k0",
        "AS bounded GROUP BY k0 HAVING COUNT(*) > 1",
    ),
    "a sum of doubles": (
        "mean",
        "COALESCE(SUM(x0), 0) AS t0",
        "COALESCE(SUM(TRY_CAST(x0 AS DOUBLE)), 0) AS t0",
    ),
    "any value": ("per unit", "MAX(y1)", "ANY_VALUE(y1)"),
    "a mode": ("per unit", "MAX(y1)", "MODE(y1)"),
    "a value of other rows": (
        "mean",
        "SELECT u, c1 AS k0, c3 AS y0",
        "SELECT u, c1 AS k0, MAX(c3) OVER () AS y0",
    ),
    "a value of other tables": (
        "mean",
        "SELECT u, c1 AS k0, c3 AS y0",
        'SELECT u, c1 AS k0, (SELECT MAX("z") FROM "more") AS y0',
    ),
    "a random value": (
        "mean",
        "SELECT u, c1 AS k0, c3 AS y0",
        "SELECT u, c1 AS k0, RANDOM() AS y0",
    ),
    "the time": (
        "mean",
        "SELECT u, c1 AS k0, c3 AS y0",
        "SELECT u, c1 AS k0, EXTRACT(YEAR FROM CURRENT_DATE) AS y0",
    ),
    "an error on purpose": ("mean", "WHERE k0 IN", "WHERE ERROR(k0) AND k0 IN"),
    "a cast that fails": ("mean", 'TRY_CAST("ward" AS TEXT)', 'CAST("ward" AS INT)'),
    "text compared with numbers": ("mean", "WHERE k0 IN ('A'", "WHERE k0 > 3 AND k0 IN ('A'"),
    "a raw column compared": (
        "mean",
        'WHERE NOT "unit" IS NULL',
        'WHERE NOT "unit" IS NULL AND "said" > 3',
    ),
    "an alias in WHERE": (
        "mean",
        "SELECT u, k0, CAST(y0 * CAST(2 AS DOUBLE) AS INT) AS x0",
        "SELECT u, 'A' AS k0, CAST(y0 * CAST(2 AS DOUBLE) AS INT) AS x0",
    ),
    "a key among itself": ("few keys", "k0 IN ('a', 'b')", "k0 IN (k0)"),
    "a key among more": ("few keys", "k0 IN ('a', 'b')", "k0 IN ('a', 'b', 'c')"),
    "a key among other columns": ("per unit", "GROUP BY u) AS held", "GROUP BY u, c) AS held"),
    "groups that are renamed": ("mode", "AS kept", "AS kept(v, k0)"),
    "a cell from other columns": ("mode", "GROUP BY k0, v", "GROUP BY k0"),
    "groups left out by their size": (
        "mode",
        "GROUP BY k0, v",
        "GROUP BY k0, v HAVING COUNT(*) > 3",
    ),
    "groups left out by other rows": (
        "mode",
        "GROUP BY k0, v",
        'GROUP BY k0, v HAVING k0 IN (SELECT "ward" FROM "data")',
    ),
    "a test that is not of NULL": ("mean", 'NOT "unit" IS NULL', 'NOT "unit" IS TRUE'),
    "a join on nothing": ("private join", "ON a.u = b.u", "ON TRUE"),
    "a join on something else": ("private join", "ON a.u = b.u", "ON a.d1 = b.d1"),
    "a join on the unit or": ("private join", "ON a.u = b.u", "ON (a.u = b.u OR TRUE)"),
    "a join on a cast unit": (
        "private join",
        "ON a.u = b.u",
        "ON TRY_CAST(a.u AS DOUBLE) = TRY_CAST(b.u AS DOUBLE)",
    ),
    "the unit of the other side": ("left join", "a.u AS u", "b.u AS u"),
    "public rows that stay": ("public join", "LEFT JOIN", "RIGHT JOIN"),
    "public rows that all stay": ("public join", "LEFT JOIN", "FULL JOIN"),
    "the nearest row": ("public join", "LEFT JOIN", "ASOF LEFT JOIN"),
    "rows twice": (
        "rows",
        'FROM "single"',
        'FROM (SELECT * FROM "single" UNION ALL SELECT * FROM "single") AS s',
    ),
    "rows joined without numbers": (
        "rows",
        'FROM "single"',
        'FROM "single" AS a JOIN "regions" AS b ON TRUE',
    ),
    "rows grouped": (
        "rows",
        'FROM "single"',
        'FROM (SELECT "ward", MAX("y") AS "y" FROM "single" GROUP BY "ward") AS s',
    ),
    "distinct rows": ("rows", 'FROM "single"', 'FROM (SELECT DISTINCT * FROM "single") AS s'),
    "one row of each": ("distinct", "GROUP BY u, k0, k1, k2)", "GROUP BY u)"),
    "numbers made twice": ("rows united", " AS MATERIALIZED (", " AS ("),
    "numbers of a part": ("rows united", ' * FROM "single")', ' * FROM "single" WHERE TRUE)'),
    "numbers in an order": (
        "rows united",
        "ROW_NUMBER() OVER ()",
        'ROW_NUMBER() OVER (ORDER BY "x")',
    ),
    "numbers as values": (
        "rows united",
        'u AS u FROM (SELECT "x" AS d2',
        'u AS u, TRY_CAST(u AS DOUBLE) AS z FROM (SELECT "x" AS d2',
    ),
    "numbers of groups as values": (
        "rows joined",
        "SELECT u, k0, COUNT(*) AS c,",
        "SELECT u, k0, TRY_CAST(u AS DOUBLE) AS z, COUNT(*) AS c,",
    ),
    "numbers in a filter": (
        "rows joined",
        "WHERE NOT u IS NULL) AS clean) AS a",
        "WHERE NOT u IS NULL AND u > 3) AS clean) AS a",
    ),
    "numbers in a hash": ("rows joined", "HASH(k0, $salt)", "HASH(u, k0, $salt)"),
    "numbers in an order of a window": ("rows joined", "$salt), k0", "$salt), k0, u"),
    "numbers in a join": ("rows joined", "ON (a.d0 = b.d0)", "ON (a.u = b.d2)"),
    "values not limited": ("different", "place <= 3", "place <= 9"),
    "different values that are not limited": ("different sum", "place <= 3", "place <= 4"),
    "larger different values": (
        "different sum",
        "CAST(v AS INT128)), 0) AS n",
        "CAST(v AS INT128) * 2), 0) AS n",
    ),
    "all values for the different ones": ("different sum", "SUM(DISTINCT ", "SUM("),
    "different values in other groups": ("different sum", "GROUP BY k0", "GROUP BY k0, v"),
    "different values without a clip": (
        "different sum",
        "SELECT DISTINCT u, k0, x0 AS v",
        "SELECT DISTINCT u, k0, CAST(x0 * 2 AS INT) AS v",
    ),
    "distinct on": ("different", "SELECT DISTINCT u, k0", "SELECT DISTINCT ON (u) u, k0"),
    "groups of cells not limited": ("different", " AND group_place <= 2", ""),
    "groups ranked by values": (
        "different",
        "DENSE_RANK() OVER (PARTITION BY u ORDER BY HASH(u, k0, $salt), k0)",
        "DENSE_RANK() OVER (PARTITION BY u ORDER BY v)",
    ),
    "rows that tie": ("median", "$salt), v, j)", "$salt), j)"),
    "a cell of more rows": ("median", "COUNT(*) AS n", "COUNT(*) * 2 AS n"),
    "no cell": ("median", "v AS cell, ", ""),
    "a cell from a count": ("median", "v AS cell", "COUNT(*) AS cell"),
    "units counted twice": ("private keys", "COUNT(*) AS units", "COUNT(*) * 2 AS units"),
    "rows for units": ("private keys", "COUNT(*) AS units", "COALESCE(SUM(f0_0), 0) AS units"),
    "no units": ("private keys", "COUNT(*) AS units, ", ""),
    "a bin with an end between integers": (
        "histogram",
        "x0 < 50",
        "x0 < CAST(50.5 AS DOUBLE)",
    ),
    "a table function": ("count", 'FROM "data"', "FROM DATA()"),
    "a window beside a sum": (
        "mean",
        "COUNT(*) AS c,",
        "COUNT(*) AS c, ROW_NUMBER() OVER (PARTITION BY u ORDER BY k0) AS w,",
    ),
    "bins that overlap": ("histogram", "x0 >= 50", "x0 >= 49"),
    "a label twice": ("histogram", "x1 = 'B'", "x1 = 'A'"),
    "a square that may overflow": (
        "variance",
        "CAST(x0 AS BIGINT) * CAST(x0 AS BIGINT)",
        " * ".join(["CAST(x0 AS INT)"] * 5),
    ),
}


@cache
def made_for(question):
    delta = 1e-3 if "private" in question or question == "median" else 0
    return plan(parse(harm.QUESTIONS[question]), POLICY, epsilon=1, delta=delta)


def changed(planned, old, new):
    """The plan with a text replaced in all statements; asserts that it occurs."""
    assert any(old in part.sql for part in planned.statements), [
        s.sql for s in planned.statements
    ]

    def swap(sql):
        return sql.replace(old, new)

    return replace(
        planned,
        engine_sql=swap(planned.engine_sql),
        blocks=tuple(replace(part, sql=swap(part.sql)) for part in planned.blocks),
        choices=tuple(replace(part, sql=swap(part.sql)) for part in planned.choices),
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("question", harm.QUESTIONS)
def test_the_statements_are_accepted_as_they_are(question):
    assert check_plan(made_for(question), FACTS).parts


# These texts are refused because of their spelling alone.
SPELT = {"a spelling of its own", "a file", "a keyword for the unit"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_change_is_refused(case):
    question, old, new = HOSTILE[case]
    with pytest.raises(PlanRefused) as refusal:
        check_plan(changed(made_for(question), old, new), FACTS)
    assert ("canonical" in str(refusal.value)) == (case in SPELT), refusal.value
    assert "cannot be checked" not in str(refusal.value)  # a rule refuses it, not an accident


def test_values_of_a_unit_are_limited_in_all_groups_together():
    """Six rows of a unit bring six different values to all groups, however they are named."""
    swapped = "SELECT u, v AS k0, k0 AS v, ROW_NUMBER()"
    planned = changed(made_for("different"), "SELECT *, ROW_NUMBER()", swapped)
    (moved,) = check_plan(planned, FACTS).parts
    assert (moved.l1, moved.l2_squared) == (6, 12)  # two values at most in one group


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT u, CAST(n AS INT) AS x FROM ({rows}) AS r WHERE n BETWEEN 0 AND 5",
        "SELECT u FROM ({rows}) AS r WHERE n BETWEEN 0 AND 5 AND CAST(n AS INT) > 3",
        "SELECT u, n + 1 AS x FROM (SELECT * FROM ({rows}) AS r WHERE n IN (1, 2)) AS s",
        "SELECT u, CASE WHEN y > b THEN b ELSE y END + 1 AS x FROM ({rows}) AS r WHERE NOT b "
        "IS NULL",
    ],
)
def test_no_cast_and_no_sum_relies_on_a_filter(sql):
    """The engine may compute a value before it filters, in any order of conditions."""
    rows = 'SELECT "unit" AS u, TRY_CAST("x" AS BIGINT) AS n, TRY_CAST("y" AS BIGINT) AS y, '
    rows += 'CASE WHEN TRY_CAST("flag" AS BOOLEAN) THEN 5 END AS b FROM "data"'
    tree = read_statement(sql.format(rows=rows))
    with pytest.raises(PlanRefused):
        Derivation(FACTS).relation(tree, {})
    harmless = read_statement(f"SELECT u FROM ({rows}) AS r WHERE n BETWEEN 0 AND 5")
    assert Derivation(FACTS).relation(harmless, {}).units == {"u"}


def test_an_optional_side_of_a_join_has_one_more_value():
    sql = (
        'SELECT a.u AS u, b.k AS k0 FROM (SELECT "unit" AS u FROM "data" WHERE NOT "unit" IS '
        'NULL) AS a LEFT JOIN (SELECT k FROM (SELECT TRY_CAST("region" AS TEXT) AS k FROM '
        "\"regions\") AS r WHERE k IN ('n', 's')) AS b ON TRUE"
    )
    assert Derivation(FACTS).relation(read_statement(sql), {}).groups_per_unit(["k0"]) == 3
    inner = Derivation(FACTS).relation(read_statement(sql.replace("LEFT JOIN", "JOIN")), {})
    assert inner.groups_per_unit(["k0"]) == 2


def test_a_choice_is_made_by_counts_and_not_by_sums_of_different_values():
    planned = changed(made_for("median"), "GROUP BY k0, v", "GROUP BY k0")
    total = "COALESCE(SUM(DISTINCT CAST(v AS INT128)), 0)"
    summed = changed(planned, "v AS cell, COUNT(*) AS n", f"0 AS cell, {total} AS n")
    with pytest.raises(PlanRefused, match="something else than counts"):
        check_plan(summed, FACTS)
